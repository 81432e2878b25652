// Package maintext finds a page's main text, without menus, cookie notices, related pages and
// footers, as text and as Markdown.
//
// In: the bytes of a page in UTF-8. Out: a Main. Two forests of small trees judge each block: the
// first by what the block and its neighbours look like, the second also by the first one's opinions
// around it. docs/page.md says how they were grown and how good they are.
//
// Files: blocks.go cuts a page into blocks; features.go describes them; forest.go the trees;
// markdown.go Markdown.
package maintext

import (
	_ "embed"
	"fmt"
	"sync"
)

// cut is the chance from which a block is main text: higher ones suit news better, lower ones
// manuals.
const cut = .6

//go:embed forest.bin
var grown []byte

// forests are the built-in pair: of a block by itself, and with the opinions around it.
var forests = sync.OnceValue(func() (pair [2]*forest) {
	first, rest, err := parseForest(grown, firstFeatures)
	if err != nil {
		panic(fmt.Sprint("the built-in forests: ", err))
	}
	second, _, err := parseForest(rest, allFeatures)
	if err != nil {
		panic(fmt.Sprint("the built-in forests: ", err))
	}
	return [2]*forest{first, second}
})

type Main struct {
	doc    *document
	chosen []bool // by block
}

// Extract finds the main text of a page. A page such as a list of links has none.
func Extract(page []byte) *Main {
	m := &Main{doc: readBlocks(page)}
	m.chosen = make([]bool, len(m.doc.Blocks))
	for i, p := range chances(m.doc, forests()) {
		m.chosen[i] = p >= cut
	}
	return m
}

func chances(doc *document, by [2]*forest) []float32 {
	v := describe(doc)
	p := make([]float32, len(doc.Blocks))
	for i, row := range v.rows {
		p[i] = by[0].chance(row)
	}
	v.opinions(p)
	second := make([]float32, len(p))
	for i, row := range v.rows {
		second[i] = by[1].chance(row)
	}
	return second
}

// Text is the main text, a block a line.
func (m *Main) Text() string {
	var out []byte
	for i, chosen := range m.chosen {
		if chosen {
			out = append(append(out, m.doc.textOf(i)...), '\n')
		}
	}
	return string(out)
}
