// Package maintext finds a page's main text, without menus, cookie notices, related pages and
// footers, as text and as Markdown.
//
// In: the bytes of a page in UTF-8. Out: a Main. Two forests of small trees judge each block: the
// first by features of the block and its neighbours, the second also by the first one's results
// around it. docs/page.md says how they were trained and how accurate they are.
//
// Files: blocks.go splits a page into blocks; features.go computes their features; forest.go
// evaluates the trees; markdown.go writes Markdown.
package maintext

import (
	_ "embed"
	"fmt"
	"sync"
)

// cut is the least probability of main text; higher values suit news, lower ones manuals.
const cut = .6

//go:embed forest.bin
var grown []byte

// forests are the built-in pair: for a block alone, and with the results around it.
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

// Extract finds the main text of a page. Some pages, such as lists of links, have none.
func Extract(page []byte) *Main {
	m := &Main{doc: readBlocks(page)}
	m.chosen = make([]bool, len(m.doc.Blocks))
	for i, p := range chances(m.doc, forests()) {
		m.chosen[i] = p >= cut
	}
	return m
}

// All takes all text of a page, for a document that has no menus.
func All(page []byte) *Main {
	m := &Main{doc: readBlocks(page)}
	m.chosen = make([]bool, len(m.doc.Blocks))
	for i := range m.chosen {
		m.chosen[i] = true
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

// Text returns the main text, one block per line.
func (m *Main) Text() string {
	var out []byte
	for i, chosen := range m.chosen {
		if chosen {
			out = append(append(out, m.doc.textOf(i)...), '\n')
		}
	}
	return string(out)
}
