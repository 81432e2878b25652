package store

import (
	"errors"
	"fmt"
	"iter"
)

// Mark is what a person says of a URL: that its page is on topic, or that it is not.
// It outweighs what any model says. A URL has one mark, the last.
type Mark struct {
	OnTopic bool   `cbor:"1,keyasint,omitempty"`
	At      int64  `cbor:"2,keyasint"`           // Unix milliseconds
	After   uint64 `cbor:"3,keyasint,omitempty"` // pages that were stored by then: where a replay of the crawl takes it in
}

// ErrNoPage reports a URL that has ended without a page that a person could judge.
var ErrNoPage = errors.New("it has no page")

// String is the mark in words.
func (m Mark) String() string {
	if m.OnTopic {
		return "marked yes by a person"
	}
	return "marked no by a person"
}

// MarkedURL is a URL that a person marked.
type MarkedURL struct {
	ID ID
	Mark
}

// Marks yields what people said, in the order of the URLs' discovery.
func (s *Store) Marks() iter.Seq2[MarkedURL, error] {
	return each(s.records, key(keyMark), func(k, v []byte) (MarkedURL, error) {
		n, err := numOf(k)
		if err != nil {
			return MarkedURL{}, err
		}
		m := MarkedURL{ID: ID(n)}
		return m, decode(k, v, &m.Mark)
	})
}

// Mark writes what a person says of a URL. If the URL has a page, that is as relevant
// as the mark says from then on, whatever refine said. Counts, the totals, follow and
// are written as well.
func (b *Batch) Mark(id ID, m Mark, counts *Counts) error {
	if err := b.put(numKey(keyMark, uint64(id)), m); err != nil {
		return err
	}
	fate, err := b.Fate(id)
	if errors.Is(err, ErrUnknown) {
		return nil // it waits
	}
	if err != nil {
		return err
	}
	if fate.State != "ok" || fate.Page == 0 {
		return fmt.Errorf("%w: its state is %s", ErrNoPage, fate.State)
	}
	p := &Page{}
	if err := get(b.txn, numKey(keyPage, fate.Page), p); err != nil {
		return err
	}
	if p.Number = fate.Page; p.Relevant != m.OnTopic {
		if p.Relevant {
			counts.Relevant--
		} else {
			counts.Relevant++
		}
	}
	if err := b.PutCounts(counts); err != nil {
		return err
	}
	if err := b.putMarked(p, m); err != nil {
		return err
	}
	return b.overrule(p.Number, m)
}

// putMarked writes a page's record as its mark says.
func (b *Batch) putMarked(p *Page, m Mark) error {
	p.Relevant = m.OnTopic
	return b.put(numKey(keyPage, p.Number), p)
}

// overrule lets a mark decide what refine left to a model; there need not be a label.
func (b *Batch) overrule(page uint64, m Mark) error {
	var l Label
	err := get(b.txn, numKey(keyLabel, page), &l)
	if errors.Is(err, ErrUnknown) {
		return nil
	}
	if err != nil {
		return err
	}
	return b.PutLabel(page, l.Marked(m, b.s.info.Topic))
}

// Marked is a label of refine's, for a topic, as a mark overrules it.
func (l Label) Marked(m Mark, topic string) Label {
	l.Kept, l.Score, l.Rule = m.OnTopic, 0, m.String()
	switch {
	case m.OnTopic:
		l.Label, l.Score = topic, 1
	case l.Label == topic:
		l.Label = "not " + topic
	}
	return l
}
