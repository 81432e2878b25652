package train

import (
	"sync"

	"fossick/features"
)

// counting counts the terms of pages, and the words that K is chosen from, each in
// a goroutine of its own, while the next pages are read and parsed: training on
// many short pages is mostly reading. Pages are counted in the order in which they
// are added, so that the result is the same as without.
type counting struct {
	lex   *features.Lexicon // complete after close
	to    [2]chan counted
	batch counted
	done  sync.WaitGroup
}

// counted is a batch of pages, for a page is too short to be handed over alone.
type counted struct {
	labels []string
	docs   []features.Doc
}

const countedPages = 32

// newCounting starts counting into c's rows and nouns, which are complete after
// close.
func newCounting(c *corpus) *counting {
	n := &counting{lex: features.NewLexicon()}
	x := features.NewExtractor(c.extractor, n.lex)
	for i, do := range [2]func(string, features.Doc){
		func(_ string, d features.Doc) { c.rows = append(c.rows, x.Count(features.Vector{}, d)) },
		c.nouns.add,
	} {
		n.to[i] = make(chan counted, 4)
		n.done.Go(func() {
			for batch := range n.to[i] {
				for j, d := range batch.docs {
					do(batch.labels[j], d)
				}
			}
		})
	}
	return n
}

// add hands over a page of a class.
func (n *counting) add(label string, d features.Doc) {
	n.batch.labels, n.batch.docs = append(n.batch.labels, label), append(n.batch.docs, d)
	if len(n.batch.docs) == countedPages {
		n.flush()
	}
}

func (n *counting) flush() {
	for _, to := range n.to {
		to <- n.batch
	}
	n.batch = counted{}
}

// close waits until all pages are counted.
func (n *counting) close() {
	n.flush()
	for _, to := range n.to {
		close(to)
	}
	n.done.Wait()
}
