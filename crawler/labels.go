package crawler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fossick/internal/page"
	"fossick/internal/wire"
	"fossick/store"
)

// sendLabels passes labels given at this agent to the others.
func (c *Crawler) sendLabels(marked []Marked, at time.Time) error {
	for _, m := range marked {
		c.marks.Times.newer(m.URL, m.Topic, at.UnixMilli(), m.Page != nil)
		c.opt.Sites.Said(labelOf(m, at.UnixMilli()).pack())
	}
	return nil
}

// Labels returns this agent's latest n labels, for an agent that joins.
func (a *Agent) Labels(n int) (labels [][]byte, err error) {
	said, err := a.crawl.marks.said(n)
	if err != nil {
		return nil, err
	}
	for _, s := range said {
		labels = append(labels, labelOf(s.Marked, s.At).pack())
	}
	return labels, nil
}

// HearLabels takes in labels from other agents, as Mark does. The latest label of a URL holds,
// so repeated and late ones change nothing. A label is stored if this agent has the URL. If it
// has the page and the sender had not, it sends the label on with the page. refused collects
// the labels that it could not read.
func (a *Agent) HearLabels(ctx context.Context, labels [][]byte) (refused, err error) {
	var marked []Marked
	for _, data := range labels {
		l, err := unpackLabel(data)
		if err != nil {
			refused = errors.Join(refused, err)
			continue
		}
		if !a.crawl.marks.Times.newer(l.URL, l.Topic, l.At, l.Fetched) {
			continue
		}
		kept, err := a.keep(ctx, l)
		if err != nil {
			return refused, err
		}
		if len(kept) == 0 || kept[0].Page == nil {
			kept = []Marked{{URL: l.URL, Page: l.page(), OnTopic: l.OnTopic, Gone: l.Gone, Topic: l.Topic}}
		} else if !l.Fetched { // the sender lacks the page
			if err := a.crawl.sendLabels(kept, time.UnixMilli(l.At)); err != nil {
				return refused, err
			}
		}
		marked = append(marked, kept...)
	}
	return refused, a.learn(ctx, marked)
}

// divide separates marks of this agent's URLs from those whose page another agent has.
func (c *Crawler) divide(said []Mark) (own []Mark, away []Marked, err error) {
	if !c.opt.several() {
		return said, nil, nil
	}
	for _, m := range said {
		elsewhere, err := c.elsewhere(m.URL)
		if err != nil {
			return nil, nil, err
		}
		if elsewhere {
			away = append(away, Marked{URL: m.URL, OnTopic: m.OnTopic, Gone: m.Gone, Topic: m.Topic})
		} else {
			own = append(own, m)
		}
	}
	return own, away, nil
}

// elsewhere reports whether another agent may have a URL's page while this one has not.
func (c *Crawler) elsewhere(url string) (bool, error) {
	mine := c.opt.Sites.Mine(c.opt.Sites.Part(url))
	life, err := c.opt.Store.URLs().Life(url)
	switch {
	case errors.Is(err, store.ErrUnknown):
		return !mine, nil
	case err != nil:
		return false, err
	case life.Outcome == nil:
		return !mine, nil
	}
	return life.Page == nil && (!mine || life.Outcome.State == StateElsewhere), nil
}

// learn has the scorer learn from labels.
func (a *Agent) learn(ctx context.Context, marked []Marked) error {
	if len(marked) == 0 || !Tell(a.crawl.opt.Scorer, marked) {
		return nil
	}
	return a.inTurn(ctx, func() error {
		a.crawl.rescoreNow()
		return nil
	})
}

// keep enters a label of a URL that waits or is stored here, and returns it with its page; nil
// for any other URL.
func (a *Agent) keep(ctx context.Context, l *label) ([]Marked, error) {
	c := a.crawl
	mark := []Mark{{URL: l.URL, OnTopic: l.OnTopic, Gone: l.Gone, Topic: l.Topic}}
	ids, marked, err := c.marks.Read(mark)
	if errors.Is(err, store.ErrNoPage) || errors.Is(err, store.ErrUnknown) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	err = a.inTurn(ctx, func() error {
		refused, broken := c.marks.enter(ids, mark, &c.totals.Counts, time.UnixMilli(l.At))
		if errors.Is(refused, store.ErrNoPage) { // it ended meanwhile
			refused, marked = nil, nil
		}
		return errors.Join(refused, broken)
	})
	return marked, err
}

// label is a mark as one agent sends it to the others, with the words of the page, which they
// lack.
type label struct {
	URL     string `cbor:"1,keyasint" most:"2083"`
	OnTopic bool   `cbor:"2,keyasint,omitempty"`
	Topic   int    `cbor:"3,keyasint,omitempty"` // as in Mark
	At      int64  `cbor:"4,keyasint"`           // Unix milliseconds
	Fetched bool   `cbor:"5,keyasint,omitempty"` // the fields below are the page's

	Title       string `cbor:"6,keyasint,omitempty" most:"16384"`
	Description string `cbor:"7,keyasint,omitempty" most:"16384"`
	Headings    string `cbor:"8,keyasint,omitempty" most:"16384"`
	Text        string `cbor:"9,keyasint,omitempty" most:"16384"`
	Lang        string `cbor:"10,keyasint,omitempty"`

	Gone bool `cbor:"11,keyasint,omitempty"` // as in Mark
}

// labelBytes bounds each part of a label's page.
const labelBytes = 16 << 10

// labelOf returns the label of a mark made at a time.
func labelOf(m Marked, at int64) *label {
	l := &label{URL: m.URL, OnTopic: m.OnTopic, Gone: m.Gone, Topic: m.Topic, At: at}
	if p := m.Page; p != nil {
		l.Fetched = true
		l.Title, l.Description, l.Headings, l.Text, l.Lang = p.Title, p.Description, p.Headings, p.Text, p.Lang
		for _, part := range []*string{&l.Title, &l.Description, &l.Headings, &l.Text} {
			*part = (*part)[:min(len(*part), labelBytes)]
		}
	}
	return l
}

// page returns the labelled page, without links; nil if it was not fetched.
func (l *label) page() *page.Page {
	if !l.Fetched {
		return nil
	}
	return &page.Page{URL: l.URL, Title: l.Title, Description: l.Description, Headings: l.Headings, Text: l.Text, Lang: l.Lang}
}

// pack encodes a label in slightly more than 64 KiB at most.
func (l *label) pack() []byte {
	return wire.Encode(l)
}

var errLabel = errors.New("unreadable label")

// unpackLabel is the inverse of pack.
func unpackLabel(data []byte) (*label, error) {
	l := &label{}
	if err := decoder.Unmarshal(data, l); err != nil {
		return nil, fmt.Errorf("%w: %w", errLabel, err)
	}
	if !normal(l.URL) || l.Topic < 0 {
		return nil, fmt.Errorf("%w: URL %.100q, topic %d", errLabel, l.URL, l.Topic)
	}
	return l, nil
}

// learner returns the crawl's scorer if it is a Learner.
func (a *Agent) learner() (Learner, bool) {
	t, ok := a.crawl.opt.Scorer.(Learner)
	return t, ok
}

// Lesson returns what the crawl's scorer has learned since the last call, or a part of it; nil
// if nothing.
func (a *Agent) Lesson() []byte {
	if t, ok := a.learner(); ok {
		return t.Lesson()
	}
	return nil
}

// LessonsBefore returns, in parts, what the scorer has learned before Run from the pages of
// earlier sessions. Lesson goes on from there.
func (a *Agent) LessonsBefore() (parts [][]byte) {
	t, ok := a.learner()
	if !ok {
		return nil
	}
	for t.Lesson() != nil {
	}
	parts = t.Lessons()
	t.Share(a.crawl.opt.ours)
	return parts
}

// Lessons returns all lessons, in parts.
func (a *Agent) Lessons() [][]byte {
	if t, ok := a.learner(); ok {
		return t.Lessons()
	}
	return nil
}

// Learn passes another agent's Lesson to the crawl's scorer, once.
func (a *Agent) Learn(lesson []byte) error {
	t, ok := a.learner()
	if !ok {
		return nil
	}
	pages, err := t.Learn(lesson)
	a.crawl.passes.Received(pages)
	return err
}
