package lab

import (
	"math/rand/v2"
	"time"

	"fossick/crawler"
	"fossick/internal/page"
)

// Manners are those of a crawl among hosts that rest, in simulated time.
type Manners struct {
	Workers  int
	Delay    crawler.Delay
	MaxTime  time.Duration // of a crawl; 0: no limit
	Patience float64       // as of crawler.Options
	Latency  time.Duration // mean time of an exchange; a URL's own is from half to one and a half of it
}

// exchange is how long the exchange for a URL takes: in each crawl the same.
func (m *Manners) exchange(url string) time.Duration {
	if m == nil || m.Latency <= 0 {
		return 0
	}
	draw := rand.New(rand.NewPCG(page.Key(url), 0))
	return m.Latency/2 + time.Duration(draw.Int64N(int64(m.Latency)))
}

// web is the corpus as it answers a crawl of these manners; nil has none.
func (m *Manners) web(c *Corpus) func(url string) crawler.Answer {
	if m == nil {
		return c.Answer
	}
	return func(url string) crawler.Answer {
		a := c.Answer(url)
		a.Took = m.exchange(url)
		return a
	}
}
