package crawler

import (
	"context"
	"errors"
	"fmt"

	"fossick/crawler/journal"
	"fossick/page"
	"fossick/store"
)

// Mark is what a person says of a URL: that its page is on topic, or that it is not.
type Mark struct {
	URL     string // in normal form
	OnTopic bool
}

// Marked is a Mark as a Marker takes it in.
type Marked struct {
	URL     string
	Page    *page.Page // nil while it was not fetched
	OnTopic bool
}

// Marker is a Scorer that learns from what people say of pages. What waits is
// rescored afterwards.
type Marker interface {
	Rescorer
	Mark(marks []Marked)
}

// ErrEnded reports that a crawl cannot take anything in any more.
var ErrEnded = errors.New("the crawl has just ended")

// Mark takes in what a person says of URLs that the crawl knows, while Run goes
// on. When it returns nil, the marks are on disk, the scorer has learned from
// them, and the queue is in the order that follows. Options.Progress was told
// of that moment. moves is false when the scorer does not learn from marks, so
// that nothing but the pages' own relevance changed. When one of the URLs
// cannot be marked, none is. Safe for concurrent use.
func (c *Crawler) Mark(ctx context.Context, marks []Mark) (moves bool, err error) {
	ids, marked, err := readMarks(c.opt.Store, c.people.parseStored, marks)
	if err != nil {
		return false, err
	}
	err = c.inbox.inTurn(ctx, func() (error, error) { return c.people.enter(ids, marks) })
	scorer, moves := c.opt.Scorer.(Marker)
	if err != nil || !moves {
		return false, err
	}
	scorer.Mark(marked) // outside the owner's turn: fetches go on meanwhile
	return true, c.inbox.inTurn(ctx, func() (error, error) {
		c.queue.rescore()
		c.opt.Progress(c.progress()) // so that who looks knows from which page on the marks count
		return nil, nil
	})
}

// MarkStored is Mark for a crawl that does not run: a resumed one will learn from the
// marks.
func MarkStored(s *store.Store, marks []Mark, at int64) error {
	ids, _, err := readMarks(s, nil, marks)
	if err != nil {
		return err
	}
	counts, err := s.Counts()
	if err != nil {
		return err
	}
	return putMarks(s, ids, marks, &counts, at)
}

// people is what people have said of URLs.
type people struct {
	opt     *Options
	journal journal.Journal
	totals  *totals
	queue   *queue
	marks   map[store.ID]bool // on topic or not
}

// enter journals marks, and is the owner's. A store that cannot be written ends
// the crawl.
func (pe *people) enter(ids []store.ID, marks []Mark) (refused, broken error) {
	err := putMarks(pe.opt.Store, ids, marks, &pe.totals.Counts, pe.opt.Now().UnixMilli())
	if errors.Is(err, store.ErrNoPage) {
		return err, nil // it ended meanwhile
	}
	if err != nil {
		return nil, err
	}
	for i, id := range ids {
		pe.marks[id] = marks[i].OnTopic
	}
	return nil, nil
}

// putMarks writes marks, as many in one batch as it has room for: a mark is there with
// all that it changes, or not at all. counts are those of the store afterwards, also
// after an error.
func putMarks(s *store.Store, ids []store.ID, marks []Mark, counts *store.Counts, at int64) error {
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
	for n < len(marks) && b.Size() <= store.MaxBatchBytes {
		m := store.Mark{OnTopic: marks[n].OnTopic, At: at, After: then.Pages}
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
		ids[i], marked[i] = l.ID, Marked{URL: m.URL, OnTopic: m.OnTopic}
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
		return fmt.Errorf("%s: %w: it repeats %s; mark that", l.URL, store.ErrNoPage, l.Page.URL)
	}
	return fmt.Errorf("%s: %w: its state is %s %s; mark a page that is stored, or a URL that waits", l.URL, store.ErrNoPage, l.Fate.State, l.Fate.Reason)
}

// parseStored reads a stored page again.
func (pe *people) parseStored(stored *store.Page) (*page.Page, error) {
	body, err := pe.opt.Store.Body(stored.Number)
	if err != nil {
		return nil, err
	}
	p, err := page.Parse(body, page.ParseOptions{URL: stored.URL, ContentType: stored.ContentType, RobotsTag: stored.RobotsTag, Normalizer: pe.opt.URLs})
	if err != nil {
		return nil, fmt.Errorf("stored page %d, %s: %w", stored.Number, stored.URL, err)
	}
	return p, nil
}

// obey lets what a person said of a URL before it was fetched, also before it was
// fetched again, decide about its page.
func (pe *people) obey(o *outcome) {
	if onTopic, marked := pe.marks[o.urlID()]; marked {
		o.score.Relevant = onTopic
	}
}
