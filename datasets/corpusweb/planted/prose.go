package planted

import (
	"math/rand/v2"
	"strings"
)

// prose is what databases' texts are made of.
type prose struct {
	topic, other []string // words of pages on topic and off
	titles       []string // of pages on topic
	texts        []string // of pages on topic, their beginnings
}

// maxPool bounds the words of each pool.
const maxPool = 1 << 16

func newProse(pages []Page) prose {
	var p prose
	for _, g := range pages {
		words := strings.FieldsFunc(g.Text, func(r rune) bool { return r < 'A' || r > 'z' || r > 'Z' && r < 'a' })
		words = words[:min(len(words), 300)]
		switch {
		case !g.OnTopic && len(p.other) < maxPool:
			p.other = append(p.other, words...)
		case g.OnTopic && len(p.topic) < maxPool:
			p.topic = append(p.topic, words...)
			p.titles = append(p.titles, g.Title)
			p.texts = append(p.texts, strings.Join(words[:min(len(words), 120)], " "))
		}
	}
	return p
}

// some returns n words of a pool.
func some(rng *rand.Rand, pool []string, n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = pool[rng.IntN(len(pool))]
	}
	return strings.Join(words, " ")
}

// one returns one of a few.
func one(rng *rand.Rand, of []string) string { return of[rng.IntN(len(of))] }
