package crawler

import (
	"cmp"
	"slices"
	"sync"

	"fossick/store"
)

// peopleSaid is a Marked that is in the store.
type peopleSaid struct {
	Marked
	At int64 // Unix milliseconds
}

// said returns what people said at this crawl, the latest n of it, oldest first. It may be
// called beside the crawl.
func (b *Book) said(n int) (said []peopleSaid, err error) {
	var marks []store.MarkedURL
	for m, err := range b.store.Marks() {
		if err != nil {
			return nil, err
		}
		marks = append(marks, m)
	}
	slices.SortStableFunc(marks, func(a, b store.MarkedURL) int { return cmp.Compare(a.At, b.At) })
	for _, m := range marks[max(0, len(marks)-n):] {
		m.After = ^uint64(0) // with its page, whenever that came
		marked, err := b.marked([]store.MarkedURL{m})
		if err != nil {
			return nil, err
		}
		said = append(said, peopleSaid{marked[0], m.At})
	}
	return said, nil
}

// times is when each URL was labelled last, here or at another agent. Safe for concurrent use.
type times struct {
	mu sync.Mutex // guards at
	at map[labelled]moment
}

type moment struct {
	at      int64 // Unix milliseconds
	fetched bool  // its page was known
}

type labelled struct {
	url   string
	topic int
}

// newer says whether a label is later than any other of its URL, or the same and the first with
// its page, and notes it.
func (t *times) newer(url string, topic int, at int64, fetched bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	of, now := labelled{url, topic}, moment{at, fetched}
	last, ok := t.at[of]
	if ok && (last.at > at || last.at == at && (last.fetched || !fetched)) {
		return false
	}
	if t.at == nil {
		t.at = map[labelled]moment{}
	}
	t.at[of] = now
	return true
}

// recall notes the labels of a store.
func (t *times) recall(s *store.Store) error {
	for m, err := range s.Marks() {
		if err != nil {
			return err
		}
		birth, err := s.URLs().Birth(m.ID)
		if err != nil {
			return err
		}
		life, err := s.URLs().Life(birth.URL)
		if err != nil {
			return err
		}
		t.newer(birth.URL, m.Topic, m.At, life.Page != nil)
	}
	return nil
}
