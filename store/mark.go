package store

import (
	"errors"
	"fmt"
	"iter"
	"slices"
)

// Mark is what a person says of a URL: that its page is on topic, or that it is not.
// It outweighs what any model says. A URL has one mark, the last; of a crawl that several
// topics share one a topic.
type Mark struct {
	OnTopic bool   `cbor:"1,keyasint,omitempty"`
	At      int64  `cbor:"2,keyasint"`           // Unix milliseconds
	After   uint64 `cbor:"3,keyasint,omitempty"` // pages that were stored by then: where a replay of the crawl takes it in

	Topic int `cbor:"-" json:",omitempty"` // its place in Info.Topics, from 1; 0 of a crawl of one topic
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

// Marks yields what people said, in the order of the URLs' discovery, and of the topics.
func (s *Store) Marks() iter.Seq2[MarkedURL, error] {
	kind := key(keyMark)
	if len(s.info.Topics) > 0 {
		kind = key(keyMarkFor)
	}
	return each(s.records, kind, func(k, v []byte) (m MarkedURL, err error) {
		if m.ID, m.Topic, err = markOf(k); err != nil {
			return MarkedURL{}, err
		}
		return m, decode(k, v, &m.Mark)
	})
}

// Mark writes what a person says of a URL. If the URL has a page, that is as relevant
// as the mark says from then on, whatever refine said. Counts, the totals, follow and
// are written as well.
func (b *Batch) Mark(id ID, m Mark, counts *Counts) error {
	if err := b.put(markKey(id, m.Topic), m); err != nil {
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
	p.Number = fate.Page
	counts.count(p, true)
	p.heed(m)
	counts.count(p, false)
	if err := b.PutCounts(counts); err != nil {
		return err
	}
	if err := b.PutPageRecord(p); err != nil {
		return err
	}
	return b.overrule(p.Number, m)
}

// count adds to the totals what a page is, or takes it away.
func (c *Counts) count(p *Page, away bool) {
	c.Judged(p.Topics, away)
	switch {
	case p.Relevant && away:
		c.Relevant--
	case p.Relevant:
		c.Relevant++
	}
}

// heed makes a page as relevant as a mark says, and says whether that is news.
func (p *Page) heed(m Mark) (news bool) {
	if m.Topic == 0 {
		news, p.Relevant = p.Relevant != m.OnTopic, m.OnTopic
		return news
	}
	if m.Topic > len(p.Topics) {
		return false
	}
	v := &p.Topics[m.Topic-1]
	news, v.Relevant = v.Relevant != m.OnTopic, m.OnTopic
	p.Relevant = slices.ContainsFunc(p.Topics, func(v Verdict) bool { return v.Relevant })
	return news
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
	topic := b.s.info.Topic
	if m.Topic > 0 {
		if topic = b.s.info.Topics[m.Topic-1]; l.Topic != topic {
			return nil // refine kept the pages of another
		}
	}
	return b.PutLabel(page, l.Marked(m, topic))
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
