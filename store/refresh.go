package store

import (
	"crypto/sha256"
	"iter"
	"slices"
)

// Seen returns when a page was last seen to be as it is stored, in Unix
// milliseconds.
func (p *Page) Seen() int64 { return max(p.At, p.Checked) }

// StalePage is a stored page that was not seen lately.
type StalePage struct {
	ID   ID
	URL  string
	Next int64 // when a visit may bring news, Unix milliseconds
}

// Stale yields the stored pages that were not seen to be as they are since a time (Unix
// milliseconds), by number. Of URLs that gave their page no more when asked last, only
// those whose next visit is due by now.
func (s *Store) Stale(before, now int64) iter.Seq2[StalePage, error] {
	return func(yield func(StalePage, error) bool) {
		for p, err := range s.Pages() {
			if err == nil && p.Seen() >= before {
				continue
			}
			var f Fate
			if err == nil {
				err = s.records.get(numKey(keyFate, uint64(p.ID)), &f)
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
	p.Withdrawn, p.Checksum, p.Raw, p.Bytes = true, sum[:len(old.Checksum)], nil, 0
	p.Title, p.Terms, p.Account, p.Rule, p.Sketch, p.Signature = "", nil, nil, "", 0, nil
	p.Topics = slices.Clone(old.Topics)
	for i := range p.Topics {
		p.Topics[i].Rule = ""
	}
	p.ETag, p.Modified = "", "" // it is asked for without a condition
	p.Versions = 0
	if err := b.dropVersions(old); err != nil {
		return err
	}
	return b.ReplacePage(old, &p, b.s.Compress(nil))
}

// ReplacePage writes a page with new content in the place of an old one of the
// same number, with its compressed body. What refine said of the old one is
// dropped, and so are the headers of its URL's exchanges so far.
func (b *Batch) ReplacePage(old, p *Page, body []byte) error {
	if err := b.forget(old, p.Has); err != nil {
		return err
	}
	if err := b.dropNear(old.Number, old.Signature); err != nil {
		return err
	}
	if err := b.delete(numKey(keyLabel, old.Number)); err != nil {
		return err
	}
	if err := b.dropWires(old.ID); err != nil {
		return err
	}
	return b.PutPage(p, body)
}
