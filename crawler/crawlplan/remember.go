package crawlplan

import (
	"sync"

	"fossick/crawler"
	"fossick/internal/page"
)

// remembering makes of a scorer that speaks of a link once one that can be asked again:
// a URL that several pages link to has its best score, as in its own crawl.
type remembering struct {
	crawler.Scorer
	mu   sync.Mutex // guards best
	best page.Recent[float64]
}

// maxRemembered bounds what it remembers: twice as many at most, 16 bytes each and the map's own.
const maxRemembered = 1 << 17

func newRemembering(s crawler.Scorer) *remembering {
	return &remembering{Scorer: s, best: page.NewRecent[float64](maxRemembered)}
}

func (r *remembering) ScoreLinks(dst []float64, p *page.Page, s crawler.Score) []float64 {
	from := len(dst)
	dst = r.Scorer.ScoreLinks(dst, p, s)
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, score := range dst[from:] {
		key := page.Key(p.Links[i].URL)
		had, known := r.best.Get(key)
		switch {
		case !known:
			r.best.Put(key, score)
		case score > had:
			r.best.Set(key, score)
		default:
			dst[from+i] = had
		}
	}
	return dst
}

func (r *remembering) Rescore(key uint64) (float64, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.best.Peek(key)
}
