package urlfrontier

import (
	"math"
	"sync"
)

// scorers has the scorer of each crawl. It is safe for concurrent use.
type scorers struct {
	make func(crawl string) Scorer

	mu sync.Mutex // guards of
	of map[string]Scorer
}

// maxCrawls bounds the names of crawls: a scorer has half a megabyte.
const maxCrawls = 256

// get returns that of a crawl, nil when there are too many others.
func (s *scorers) get(crawl string) Scorer {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.of[crawl]
	if x == nil && len(s.of) < maxCrawls {
		x = s.make(crawl)
		s.of[crawl] = x
	}
	return x
}

// forget lets a crawl that is gone begin anew.
func (s *scorers) forget(crawl string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.of, crawl)
}

// rescore returns what a URL of a crawl is worth now.
func (s *scorers) rescore(crawl string, key uint64) (float32, bool) {
	x := s.get(crawl)
	if x == nil {
		return 0, false
	}
	score, known := x.Rescore(key)
	return float32(score), known && !math.IsNaN(score)
}
