package main

import (
	"hash/fnv"
	"io"
	"log"
	"math"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"fossick/internal/maintext/blocks"
)

// divide puts three quarters of hosts to learn from.
func divide(e *example, learn, test []*example) (_, _ []*example) {
	if e.part() == 3 {
		return learn, append(test, e)
	}
	return append(learn, e), test
}

func (e *example) part() uint32 {
	h := fnv.New32a()
	h.Write([]byte(e.host))
	return h.Sum32() >> 8 % 4
}

func newExample(page []byte, address string) *example {
	at, err := url.Parse(address)
	if err != nil {
		log.Fatal(err)
	}
	return &example{host: strings.TrimPrefix(at.Host, "www."), view: blocks.Describe(blocks.Read(inUTF8(page)))}
}

func inUTF8(page []byte) []byte {
	if utf8.Valid(page) {
		return page
	}
	r, err := charset.NewReader(strings.NewReader(string(page)), "text/html")
	if err != nil {
		return page
	}
	text, _ := io.ReadAll(r)
	return text
}

// learnFromOthers labels the blocks of a page, and says whether anything is to be learned.
func (e *example) learnFromOthers() bool {
	blocks := e.view.Document.Blocks
	tra, read := newReference(e.others.Trafilatura), newReference(e.others.Readability)
	goodTra, goodRead := e.right(tra.flat), e.right(read.flat)
	trustTra, trustRead := 1.2*goodTra*goodTra*goodTra+.01, goodRead*goodRead*goodRead+.01
	e.class, e.weight = make([]float32, len(blocks)), make([]float32, len(blocks))
	total := 0.0
	for i, b := range blocks {
		text := string(e.view.TextOf(i))
		p := (tra.holds(text)*trustTra + read.holds(text)*trustRead) / (trustTra + trustRead)
		class, weight := math.Round(p), math.Abs(p-.5)*1.6+.2
		if said := e.segment(flatten(text)); said >= 0 {
			class, weight = said, 2
		}
		weight *= math.Sqrt(float64(b.Words))
		e.class[i], e.weight[i] = float32(class), float32(weight)
		total += weight
	}
	best := max(goodTra, goodRead)
	if total == 0 || best < .5 {
		return false
	}
	e.scale(30 * best / total)
	return true
}

// scale makes the weights of a page come to as much whatever its length.
func (e *example) scale(by float64) {
	for i := range e.weight {
		e.weight[i] *= float32(by)
	}
}

// segment is 1 for a block with a wanted segment, 0 for one that is an unwanted one, else -1.
func (e *example) segment(flat string) float64 {
	said := -1.0
	for _, s := range e.with {
		if f := flatten(s); len(f) > 12 && strings.Contains(flat, f) {
			said = 1
		}
	}
	for _, s := range e.without {
		if f := flatten(s); len(f) > 6 && strings.Contains(flat, f) && len(flat) < 4*len(f) {
			said = 0
		}
	}
	return said
}

// right is the share of a page's segments that a text has right.
func (e *example) right(flat string) float64 {
	n := 0
	for _, s := range e.with {
		if strings.Contains(flat, flatten(s)) {
			n++
		}
	}
	for _, s := range e.without {
		if !strings.Contains(flat, flatten(s)) {
			n++
		}
	}
	return float64(n) / float64(max(1, len(e.with)+len(e.without)))
}

// reference is a text in which blocks are looked up.
