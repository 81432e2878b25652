package main

import (
	"math"
	"regexp"
	"strings"

	"fossick/internal/maintext/forest"
)

// reference is a text in which blocks are looked up.
type reference struct {
	flat string
	runs map[string]int // of three words
}

func newReference(text string) reference { return reference{flatten(text), runs(text, 3)} }

// holds is the share of a block that a text has.
func (r reference) holds(block string) float64 {
	words := wordRE.FindAllString(block, -1)
	if len(words) < 6 {
		if len(words) > 0 && strings.Contains(r.flat, flatten(block)) {
			return 1
		}
		return 0
	}
	n := 0
	for i := range len(words) - 2 {
		if r.runs[strings.Join(words[i:i+3], " ")] > 0 {
			n++
		}
	}
	return float64(n) / float64(len(words)-2)
}

var wordRE = regexp.MustCompile(`[\pL\pN_]+`)

func flatten(s string) string { return " " + strings.Join(wordRE.FindAllString(s, -1), " ") + " " }

// runs counts the runs of n words.
func runs(s string, n int) map[string]int {
	words := wordRE.FindAllString(s, -1)
	count := map[string]int{}
	for i := 0; i <= max(0, len(words)-n); i++ {
		if run := strings.Join(words[i:min(len(words), i+n)], " "); run != "" {
			count[run]++
		}
	}
	return count
}

const (
	perHost  = 25 // pages to learn from
	compared = 50 // pages that texts are looked up in
)

func (e *example) learnFromHost(texts map[string]int, pages int) {
	blocks := e.view.Document.Blocks
	e.class, e.weight = make([]float32, len(blocks)), make([]float32, len(blocks))
	total := 0.0
	var body strings.Builder
	for i, b := range blocks {
		text := string(e.view.TextOf(i))
		n := texts[text]
		weight := 1.0
		switch share := float64(n) / float64(pages); {
		case share > .25:
		case share > .1 && n > 2: // nobody knows
			weight = .1
		default:
			e.class[i] = 1
			body.WriteString(text + "\n")
			if b.Words < 4 {
				weight = .5
			}
		}
		weight *= math.Sqrt(float64(b.Words))
		e.weight[i] = float32(weight)
		total += weight
	}
	e.body = body.String()
	e.scale(6 / max(1, total))
}

var options = forest.Options{Trees: 90, Leaves: 24, Rate: .12, Features: .6, Ridge: 1, Least: 3, Seed: 1}
