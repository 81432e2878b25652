package maintext

import (
	_ "embed"
	"fmt"
	"sync"

	"fossick/internal/maintext/blocks"
	"fossick/internal/maintext/forest"
)

// cut is the chance from which on a block is main text. Of seven tried on pages that the
// forests were not grown from, higher ones suit news better and lower ones manuals.
const cut = .6

//go:embed forest.bin
var grown []byte

// Forests are the two that are built in: of a block by itself, and with the opinions around it.
var Forests = sync.OnceValue(func() (pair [2]*forest.Forest) {
	first, rest, err := forest.Parse(grown, blocks.FirstSize)
	if err != nil {
		panic(fmt.Sprint("the built-in forests: ", err))
	}
	second, _, err := forest.Parse(rest, blocks.Size)
	if err != nil {
		panic(fmt.Sprint("the built-in forests: ", err))
	}
	return [2]*forest.Forest{first, second}
})

// Main is the main text of a page.
type Main struct {
	doc    *blocks.Document
	chosen []bool // by block
}

// Extract finds the main text of a page. A page where nothing looks like one, as a list of
// links, has none.
func Extract(page []byte) *Main {
	m := &Main{doc: blocks.Read(page)}
	m.chosen = make([]bool, len(m.doc.Blocks))
	for i, p := range Chances(m.doc, Forests()) {
		m.chosen[i] = p >= cut
	}
	return m
}

// Chances of each block of a page to be main text, by two forests.
func Chances(doc *blocks.Document, by [2]*forest.Forest) []float32 {
	v := blocks.Describe(doc)
	p := make([]float32, len(doc.Blocks))
	for i, row := range v.Rows() {
		p[i] = by[0].Chance(row)
	}
	v.Opinions(p)
	second := make([]float32, len(p))
	for i, row := range v.Rows() {
		second[i] = by[1].Chance(row)
	}
	return second
}

// Text is the main text, a block a line, "" when there is none.
func (m *Main) Text() string {
	var out []byte
	for i, chosen := range m.chosen {
		if chosen {
			out = append(append(out, m.doc.TextOf(i)...), '\n')
		}
	}
	return string(out)
}
