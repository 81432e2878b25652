package crawler

import (
	"time"

	"fossick/crawler/hosts"
	"fossick/internal/sitemap"
	"fossick/store"
)

// unknown returns the pages that the store has never heard of.
func (r *reader) unknown(pages []sitemap.Page) ([]link, error) {
	hashes := make([]store.Hash, len(pages))
	for i, p := range pages {
		hashes[i] = store.HashURL(p.URL)
	}
	seen, err := r.journal.Lookup(hashes)
	if err != nil {
		return nil, err
	}
	links := make([]link, 0, len(pages))
	for i, p := range pages {
		if seen[i].ID == 0 {
			links = append(links, link{URL: p.URL, Hash: hashes[i], Modified: unixSeconds(p.Modified)})
		}
	}
	return links, nil
}

// rateUnlinked scores URLs that only a sitemap names, and says which are not wanted. They
// count as one link away from a start page; --links is of links and does not
// touch them.
func (r *reader) rateUnlinked(links []link, parent float64) {
	r.cores <- struct{}{}
	defer func() { <-r.cores }()
	scorer, ok := r.opt.Scorer.(SitemapScorer)
	for i := range links {
		f := &links[i]
		f.Score = parent
		if ok {
			f.Score = scorer.ScoreUnlinked(f.URL, parent)
		}
		f.Skip = r.opt.Scope.Excludes(f.URL)
		if f.Skip == "" {
			f.Skip = r.belowThreshold(f.Score)
		}
		if f.Skip == "" && !r.opt.FollowTraps {
			f.Skip = hosts.Circular(f.URL)
			f.Trap = f.Skip != ""
		}
	}
}

func unixSeconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}
