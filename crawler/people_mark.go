package crawler

import (
	"fmt"
	"slices"

	"fossick/internal/page"
	"fossick/store"
)

// Mark is what a person says of a URL: that its page is on topic, or that it is not.
type Mark struct {
	URL     string // in normal form
	OnTopic bool
	Topic   int // its place among those that share the crawl, from 1; 0 of a crawl of one topic
}

// Marked is a Mark as a Marker takes it in.
type Marked struct {
	URL     string
	Page    *page.Page // nil while it was not fetched
	OnTopic bool
	Topic   int // as in Mark
}

// Marker is a Scorer that learns from what people say of pages. What waits is
// rescored afterwards.
type Marker interface {
	Rescorer
	Mark(marks []Marked)
}

// sharing is a Scorer of several topics that share a crawl. What people say of one is for
// the topic's own scorer.
type sharing interface {
	// OfTopic returns the scorer of a topic, by its place from 1.
	OfTopic(topic int) Scorer
}

// ScorerOf returns the scorer that a topic has in a crawl, which is the crawl's own where
// no topics share it (topic 0); nil where there is no such topic.
func ScorerOf(scorer Scorer, topic int) Scorer {
	s, shares := scorer.(sharing)
	switch {
	case topic == 0 && !shares:
		return scorer
	case topic == 0 || !shares:
		return nil
	}
	return s.OfTopic(topic)
}

// Tell shows marks to the scorers of their topics, in the order in which they come. learned
// says whether all of these learn.
func Tell(scorer Scorer, marks []Marked) (learned bool) {
	learned = true
	for len(marks) > 0 {
		n := 1
		for n < len(marks) && marks[n].Topic == marks[0].Topic {
			n++
		}
		m, learns := ScorerOf(scorer, marks[0].Topic).(Marker)
		if learns {
			m.Mark(marks[:n])
		}
		learned, marks = learned && learns, marks[n:]
	}
	return learned
}

// learns says whether the scorers that some marks are for would learn from them.
func learns(scorer Scorer, marks []Marked) bool {
	for _, m := range marks {
		if _, learns := ScorerOf(scorer, m.Topic).(Marker); !learns {
			return false
		}
	}
	return true
}

// Put takes in marks for a crawl that does not run: a resumed one will learn from the
// marks.
func Put(s *store.Store, marks []Mark, at int64) error {
	ids, _, err := readMarks(s, nil, marks)
	if err != nil {
		return err
	}
	counts, err := s.Counts()
	if err != nil {
		return err
	}
	return put(s, ids, marks, &counts, at)
}

// put writes marks, as many in one batch as it has room for: a mark is there with
// all that it changes, or not at all. counts are those of the store afterwards, also
// after an error.
func put(s *store.Store, ids []store.ID, marks []Mark, counts *store.Counts, at int64) error {
	for done := 0; done < len(marks); {
		n, err := putSome(s, ids[done:], marks[done:], counts, at)
		if err != nil {
			return err
		}
		done += n
	}
	return nil
}

// putSome writes one batch of marks and returns how many it had room for.
func putSome(s *store.Store, ids []store.ID, marks []Mark, counts *store.Counts, at int64) (n int, err error) {
	b := s.Batch()
	defer b.Cancel() // of no effect after Commit
	then := *counts
	then.Topics = slices.Clone(counts.Topics)
	for n < len(marks) && b.Size() <= store.MaxBatchBytes {
		m := store.Mark{OnTopic: marks[n].OnTopic, At: at, After: then.LastPage(), Topic: marks[n].Topic}
		if err := b.Mark(ids[n], m, &then); err != nil {
			return 0, fmt.Errorf("%s: %w", marks[n].URL, err)
		}
		n++
	}
	if err := b.Commit(); err != nil {
		return 0, err
	}
	*counts = then
	return n, nil
}

// readMarks finds the URLs that are marked, with their pages as far as there are
// some and parse is not nil.
func readMarks(s *store.Store, parse func(*store.Page) (*page.Page, error), marks []Mark) ([]store.ID, []Marked, error) {
	ids, marked := make([]store.ID, len(marks)), make([]Marked, len(marks))
	for i, m := range marks {
		l, err := s.URLs().Life(m.URL)
		if err != nil {
			return nil, nil, err
		}
		if err := markable(l); err != nil {
			return nil, nil, err
		}
		ids[i], marked[i] = l.ID, Marked{URL: m.URL, OnTopic: m.OnTopic, Topic: m.Topic}
		if l.Page == nil || parse == nil {
			continue
		}
		if marked[i].Page, err = parse(l.Page); err != nil {
			return nil, nil, err
		}
	}
	return ids, marked, nil
}

// markable says why a URL has nothing that a person could judge.
func markable(l *store.Life) error {
	switch {
	case l.Fate == nil || l.Fate.State == "ok" && l.Fate.Page != 0:
		return nil
	case l.Fate.State == "duplicate" && l.Page != nil:
		return fmt.Errorf("%s: %w: it repeats %s; label that page instead", l.URL, store.ErrNoPage, l.Page.URL)
	}
	return fmt.Errorf("%s: %w: its state is %s %s; label a stored page or a waiting URL", l.URL, store.ErrNoPage, l.Fate.State, l.Fate.Reason)
}
