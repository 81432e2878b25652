package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"fossick/internal/page"
	"fossick/store"
)

// Classified is a classifier's word on one page.
type Classified struct {
	Score float64 // probability of the topic
	Rest  string  // the most probable of the other classes

	// Unknown: the model cannot tell. The page is dropped, whatever the threshold.
	Unknown bool
}

// RefineOptions say how a cluster is cleaned.
type RefineOptions struct {
	Topic     string
	Model     string  // goes into every label
	Threshold float64 // a page is kept when the topic's probability is at least this
	Workers   int     // goroutines that parse and classify; below 1 counts as 1

	// Classify must be safe for concurrent use.
	Classify func(p *page.Page) Classified

	// Explain says what speaks for a label: the rule that fired or the words that
	// weighed most. It is asked for the label that the page gets, which under a low
	// threshold need not be its most probable one. Safe for concurrent use; nil
	// leaves the probability and the threshold as the only reason.
	Explain func(p *page.Page, label string) string

	// Progress is told after each page, from one goroutine; nil when nobody asks.
	Progress func(done int)
}

// Refined sums up a refinement.
type Refined struct {
	Pages    int            `json:"pages"`
	Kept     int            `json:"kept"`
	Dropped  int            `json:"dropped"`
	PerClass map[string]int `json:"per_class"`
}

// unreadable is the label of a page that cannot be parsed; it is dropped.
const unreadable = "unreadable"

// Refine is the second stage of paper A. It classifies every stored page, writes the
// label into the store, and keeps what is on topic. A page is labelled with the topic
// exactly when it is kept. So a topic rarer than its neighbours is kept from a low
// probability on. A second run replaces the labels of the first. A page that a person
// marked is kept or dropped as the mark says. When ctx ends, labels written so far stay
// (each page has its old label or its new one) and ctx's error returns.
func Refine(ctx context.Context, s *store.Store, opt RefineOptions) (Refined, error) {
	r := Refined{PerClass: map[string]int{}}
	batch := s.Batch()
	marks, err := marksOf(s)
	if err != nil {
		batch.Cancel()
		return r, err
	}
	of := 1 + slices.Index(s.Info().Topics, opt.Topic) // 0 of one topic alone
	label := func(sp *store.Page, p *page.Page) store.Label {
		l, rest := opt.label(p)
		if of > 0 {
			l.Topic = opt.Topic
		}
		if i := slices.IndexFunc(marks[sp.ID], func(m store.Mark) bool { return m.Topic == of }); i >= 0 {
			return opt.marked(l, marks[sp.ID][i], rest)
		}
		return l
	}
	err = eachParsed(ctx, s, opt.Workers, label, func(p *store.Page, l store.Label) error {
		r.count(l)
		if opt.Progress != nil {
			opt.Progress(r.Pages)
		}
		if err := batch.PutLabel(p.Number, l); err != nil {
			return err
		}
		if batch.Size() < store.MaxBatchBytes {
			return nil
		}
		err := batch.Commit()
		batch = s.Batch()
		return err
	})
	if err != nil && ctx.Err() == nil {
		batch.Cancel()
		return r, err
	}
	return r, errors.Join(err, batch.Commit())
}

// label decides on one page, nil when it cannot be parsed. rest is the label that it
// has when it is not on topic.
func (opt *RefineOptions) label(p *page.Page) (l store.Label, rest string) {
	if p == nil {
		return store.Label{Label: unreadable, Rule: "the body cannot be parsed, or was withdrawn", Model: opt.Model}, unreadable
	}
	c := opt.Classify(p)
	l = store.Label{Label: c.Rest, Score: c.Score, Model: opt.Model}
	sign := "<"
	if c.Score >= opt.Threshold && !c.Unknown {
		l.Label, l.Kept, sign = opt.Topic, true, "≥"
	}
	if opt.Explain != nil {
		l.Rule = opt.Explain(p, l.Label) + "; "
	}
	if c.Unknown {
		l.Rule += fmt.Sprintf("%s not known", opt.Topic)
		return l, c.Rest
	}
	l.Rule += fmt.Sprintf("%s %.3g %s %.3g", opt.Topic, c.Score, sign, opt.Threshold)
	return l, c.Rest
}

func (r *Refined) count(l store.Label) {
	r.Pages++
	r.PerClass[l.Label]++
	if l.Kept {
		r.Kept++
	} else {
		r.Dropped++
	}
}

// Dropped is a page that was dropped, and why.
type Dropped struct{ URL, Label, Rule string }

// NearlyKept returns up to n dropped pages, the nearest to being kept first:
// they tell most about the threshold.
func NearlyKept(s *store.Store, n int) ([]Dropped, error) {
	type candidate struct {
		number uint64
		label  store.Label
	}
	var all []candidate
	for l, err := range s.Labels() {
		if err != nil {
			return nil, err
		}
		if !l.Kept {
			all = append(all, candidate{l.Page, l.Label})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.label.Score, a.label.Score) })
	var out []Dropped
	for _, c := range all[:min(n, len(all))] {
		p, err := s.Page(c.number)
		if err != nil {
			return nil, err
		}
		out = append(out, Dropped{p.URL, c.label.Label, c.label.Rule})
	}
	return out, nil
}
