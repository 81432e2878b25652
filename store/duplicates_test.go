package store

import (
	"errors"
	"testing"
)

// dropped returns the store of crawled without page 2, and without page 4 where two is said:
// another agent has them.
func dropped(t *testing.T, numbers ...uint64) *Store {
	s := crawled(t)
	for _, n := range numbers {
		alter(t, s, func(b *Batch) {
			p, _, err := DuplicatesIn(b).Page(ID(n))
			must(t, err)
			c, err := s.Counts()
			must(t, err)
			c.Pages--
			c.Dropped++
			c.Bytes -= uint64(p.Bytes)
			if p.Relevant {
				c.Relevant--
			}
			c.States["ok"]--
			c.States["duplicate"]++
			must(t, DuplicatesIn(b).Drop(p, "http://other.test/"), b.PutFate(p.ID, Fate{State: "duplicate", Reason: "same content as http://other.test/"}), b.PutCounts(&c))
		})
	}
	return s
}

// TestDropPage: a page that was dropped is nowhere but in its record. The others keep their
// numbers, its number is not given again, and its content is new to the store.
func TestDropPage(t *testing.T) {
	s := dropped(t, 2, 5)
	var numbers []uint64
	for p, err := range s.Pages() {
		must(t, err)
		numbers = append(numbers, p.Number)
	}
	equal(t, "pages", numbers, []uint64{1, 3, 4})
	numbers = nil
	for l, err := range s.Listed() {
		must(t, err)
		numbers = append(numbers, l.Number)
	}
	equal(t, "listed", numbers, []uint64{1, 3, 4})
	p, err := s.Page(2)
	must(t, err)
	equal(t, "what is left", *p, Page{Number: 2, ID: 2, URL: "http://h2.test/", Checksum: []byte("cccccccccccccccc"), SameAs: "http://other.test/"})
	if _, err := s.Body(2); !errors.Is(err, ErrUnknown) {
		t.Errorf("its body: %v", err)
	}
	if l, err := s.Label(2); err != nil || l != nil {
		t.Errorf("its label: %v, %v", l, err)
	}
	near, err := s.Candidates(signatureOf(0, 2))
	must(t, err)
	for _, c := range near {
		if c.Number == 2 {
			t.Error("it is a candidate for near-duplicates")
		}
	}
	alter(t, s, func(b *Batch) {
		n, err := b.PageWith([]byte("cccccccccccccccc"))
		must(t, err)
		equal(t, "the page of its content", n, uint64(0))
		if _, _, err := DuplicatesIn(b).Page(2); !errors.Is(err, ErrUnknown) {
			t.Errorf("the page of its URL: %v", err)
		}
	})
	c, err := s.Counts()
	must(t, err)
	equal(t, "last page", c.LastPage(), uint64(5))
	if problems, err := s.Verify(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

// TestRepairWithDroppedPages: where a page is missing the last record takes its number, also
// that of a dropped page; and a URL whose page was dropped has none.
func TestRepairWithDroppedPages(t *testing.T) {
	s := dropped(t, 2, 5)
	alter(t, s, func(b *Batch) {
		must(t, b.delete(numKey(keyPage, 3)), b.PutFate(2, Fate{State: "ok", Page: 2}))
	})
	problems, err := s.Verify(t.Context())
	must(t, err)
	if len(problems) == 0 {
		t.Fatal("nothing is found")
	}
	_, err = s.repair(t.Context())
	wantLost(t, err, false)
	if problems, err := s.Verify(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	p, err := s.Page(3)
	must(t, err)
	equal(t, "page 3", p.URL, "http://h5.test/")
	c, err := s.Counts()
	must(t, err)
	equal(t, "counts", [3]uint64{c.Pages, c.Dropped, c.Relevant}, [3]uint64{2, 2, 1})
	if _, _, err := s.URLs().Waiting(2); err != nil {
		t.Errorf("the URL that was said to have page 2 does not wait: %v", err)
	}
}
