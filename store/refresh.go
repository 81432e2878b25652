package store

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"

	"github.com/dgraph-io/badger/v4"
)

// Seen returns when a page was last seen to be as it is stored, in Unix
// milliseconds.
func (p *Page) Seen() int64 { return max(p.At, p.Checked) }

// Copy is a URL whose page is stored: what a conditional request for it and the
// journal of that need to know.
type Copy struct {
	ID     ID
	Birth  Birth
	Fate   Fate
	Page   *Page
	Visits int // exchanges so far
}

// CopyOf returns what is known of a URL whose page is stored; ErrUnknown when it
// has none.
func (s *Store) CopyOf(id ID) (*Copy, error) {
	c := &Copy{ID: id, Page: &Page{}}
	err := s.records.view(func(txn *badger.Txn) error {
		if err := get(txn, numKey(keyBirth, uint64(id)), &c.Birth); err != nil {
			return err
		}
		if err := get(txn, numKey(keyFate, uint64(id)), &c.Fate); err != nil {
			return err
		}
		if c.Fate.State != "ok" && !c.Fate.Stored {
			return fmt.Errorf("URL %d, %s: %w: it has no page", id, c.Birth.URL, ErrUnknown)
		}
		if err := get(txn, numKey(keyPage, c.Fate.Page), c.Page); err != nil {
			return err
		}
		c.Page.Number = c.Fate.Page
		opt := badger.DefaultIteratorOptions
		opt.Prefix, opt.PrefetchValues = numKey(keyVisit, uint64(id)), false
		it := txn.NewIterator(opt)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			c.Visits++
		}
		return nil
	})
	return c, err
}

// StalePage is a stored page that was not seen lately.
type StalePage struct {
	ID   ID
	URL  string
	Next int64 // when a visit may bring news, Unix milliseconds
}

// Stale yields the stored pages that were not seen to be as they are since the
// given time (Unix milliseconds), in the order of their numbers. Of URLs that gave
// their page no more when asked last, only those whose next visit is due by now.
func (s *Store) Stale(before, now int64) iter.Seq2[StalePage, error] {
	return func(yield func(StalePage, error) bool) {
		for p, err := range s.Pages() {
			if err == nil && p.Seen() >= before {
				continue
			}
			var f Fate
			if err == nil {
				err = s.records.view(func(txn *badger.Txn) error { return get(txn, numKey(keyFate, uint64(p.ID)), &f) })
			}
			if err != nil {
				yield(StalePage{}, err)
				return
			}
			if f.Stored && (f.Next == 0 || f.Next > now) {
				continue
			}
			if !yield(StalePage{p.ID, p.URL, f.Next}, nil) {
				return
			}
		}
	}
}

// PutPageRecord writes what is known of a stored page, without its content.
func (b *Batch) PutPageRecord(p *Page) error { return b.put(numKey(keyPage, p.Number), p) }

// WithdrawPage takes the content of a page away, for good: its body, title, words and
// what refine said of it. What the crawl did stays: the URL, when it was fetched, its
// scores and label, the links that were followed. The page keeps its number, with an
// empty body.
func (b *Batch) WithdrawPage(old *Page) error {
	sum := sha256.Sum256([]byte("withdrawn " + old.URL)) // as unlike all others as content is
	p := *old
	p.Withdrawn, p.Checksum, p.Bytes = true, sum[:len(old.Checksum)], 0
	p.Title, p.Terms, p.Account, p.Rule, p.Sketch, p.Signature = "", nil, nil, "", 0, nil
	p.ETag, p.Modified = "", "" // it is asked for without a condition
	return b.ReplacePage(old, &p, b.s.Compress(nil))
}

// ReplacePage writes a page with new content in the place of an old one of the
// same number, with its compressed body. What refine said of the old one is
// dropped.
func (b *Batch) ReplacePage(old, p *Page, body []byte) error {
	n, err := b.PageWith(old.Checksum)
	if err != nil && !errors.Is(err, ErrDamaged) {
		return err
	}
	if n == old.Number && !bytes.Equal(old.Checksum, p.Checksum) {
		if err := b.delete(bytesKey(keyContent, old.Checksum)); err != nil {
			return err
		}
	}
	if err := b.dropNear(old.Number, old.Signature); err != nil {
		return err
	}
	if err := b.delete(numKey(keyLabel, old.Number)); err != nil {
		return err
	}
	return b.PutPage(p, body)
}
