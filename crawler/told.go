package crawler

import (
	"fossick/internal/sitemap"
	"fossick/store"
)

// told is what a sitemap or a feed says of a URL.
type told struct {
	ID       store.ID // 0 where nobody knows the URL
	URL      string
	Modified int64 // Unix seconds; 0 when not told
	Seen     int64 // when its page was, Unix milliseconds; 0 where none is stored
}

// toldPart is how many URLs are looked up at a time.
const toldPart = 250

// Told looks up what is known of the pages of a sitemap.
func (r *reader) Told(pages []sitemap.Page) (all []told, err error) {
	for len(pages) > 0 {
		part := pages[:min(toldPart, len(pages))]
		pages = pages[len(part):]
		hashes := make([]store.Hash, len(part))
		for i, p := range part {
			hashes[i] = store.HashURL(p.URL)
		}
		seen, err := r.journal.Lookup(hashes)
		if err != nil {
			return nil, err
		}
		for i, p := range part {
			t := told{ID: seen[i].ID, URL: p.URL, Modified: unixSeconds(p.Modified)}
			if t.ID != 0 && t.Modified > 0 {
				if t.Seen, err = r.opt.Seen(t.ID); err != nil {
					return nil, err
				}
			}
			if t.ID == 0 || t.Seen != 0 {
				all = append(all, t)
			}
		}
	}
	return all, nil
}
