package crawler

import (
	"fmt"

	"fossick/crawler/hosts"
	"fossick/store"
)

// maxLinkBytes bounds the URLs that one page may add, so that what follows from
// a page always fits into one batch.
const maxLinkBytes = 1 << 20

// links returns the page's links, each target once with its best score, in the
// order of the page.
func (r *reader) links(p *readingPage, order order) []link {
	scores := r.opt.Scorer.ScoreLinks(make([]float64, 0, len(p.Links)), p.Page, p.Score)
	r.translated(p, order, scores)
	at := make(map[string]int, len(p.Links))
	links := make([]link, 0, len(p.Links))
	size := 0
	for i := range p.Links {
		l := &p.Links[i]
		if r.opt.Scope.unnamed(p.Page, l) {
			continue
		}
		f := link{URL: l.URL, At: l, Place: i, Score: scores[i], Skip: r.opt.Scope.skipLink(p.Page, l, order.Depth+1)}
		if f.Skip == "" {
			f.Skip = r.belowThreshold(f.Score)
		}
		if f.Skip == "" && !r.opt.FollowTraps {
			f.Skip = hosts.Circular(l.URL)
			f.Trap = f.Skip != ""
		}
		if k, repeated := at[l.URL]; repeated {
			if old := &links[k]; old.Skip != "" && f.Skip == "" || old.Skip == "" && f.Skip == "" && f.Score > old.Score {
				f.Hash = old.Hash
				*old = f
			}
			continue
		}
		if l.URL == p.URL {
			continue
		}
		if size += len(l.URL); size > maxLinkBytes {
			r.opt.Log.Warn("page has too many links; the rest are dropped", "url", p.URL, "links", len(links))
			break
		}
		f.Hash = store.HashURL(l.URL)
		at[l.URL] = len(links)
		links = append(links, f)
	}
	return links
}

// belowThreshold says that a link is not followed for its score, "" when it is.
func (r *reader) belowThreshold(score float64) string {
	if score >= r.opt.Threshold {
		return ""
	}
	return fmt.Sprintf("score %.4g is below the threshold %.4g", score, r.opt.Threshold)
}
