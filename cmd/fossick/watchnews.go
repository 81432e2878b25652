package main

import (
	"io"
	"time"

	"fossick/crawler"
	"fossick/internal/printable"
	"fossick/store"
)

// Under a budget a host's sitemaps and feeds take at most a part of it, shared evenly among
// hosts; those of a host that is more likely wrong than true are asked seldom, to see whether
// it has mended its ways.
const (
	partForNews = 0.1
	doubtedMore = 16
)

// Source is as crawler.chooser says: the one asked longest ago.
func (c *scheduled) Source(of *store.Announced, now time.Time) int {
	next, last := -1, int64(0)
	for i, s := range of.Sources {
		if last = max(last, s.At); next < 0 || s.At < of.Sources[next].At {
			next = i
		}
	}
	every := c.newsEvery
	if crawler.Doubted(of) {
		every *= doubtedMore
	}
	if next < 0 || now.UnixMilli()-last < every.Milliseconds() {
		return -1
	}
	c.scheduler.Spend(c.days(now))
	return next
}

// Announced is as crawler.chooser says.
func (c *scheduled) Announced(id store.ID, now time.Time) {
	if number, ok := c.numbers[id]; ok {
		c.scheduler.News(number, c.days(now))
	}
}

// newsEvery is how often each of so many hosts is asked for news.
func newsEvery(hosts int, perDay float64) time.Duration {
	days := min(float64(hosts)/(partForNews*perDay), 365)
	return time.Duration(days * float64(crawler.Day))
}

// watchNews is what sitemaps and feeds told, in the JSON of watch.
type watchNews struct {
	Asked       uint64   `json:"asked"` // exchanges for them in this session
	NotModified uint64   `json:"not_modified"`
	Failed      uint64   `json:"failed"`
	Changed     uint64   `json:"changed"`  // pages that changed since they were seen, as they say
	New         uint64   `json:"new"`      // URLs that nobody knew; they are not asked for
	URLs        []string `json:"new_urls"` // the first thousand of these

	Hosts    int `json:"hosts"`    // that have such sources, of the whole store
	Believed int `json:"believed"` // whose lastmod held against visits
	Doubted  int `json:"doubted"`  // whose lastmod did not
}

// newsOf adds up what is known of hosts to what a session brought.
func newsOf(s *store.Store, c crawler.NewsCounts) (*watchNews, error) {
	n := &watchNews{Asked: c.Asked, NotModified: c.NotModified, Failed: c.Failed, Changed: c.Changed, New: c.New, URLs: c.URLs}
	if n.URLs == nil {
		n.URLs = []string{}
	}
	for h, err := range s.Hosts() {
		if err != nil {
			return nil, err
		}
		if h.Announced == nil || len(h.Announced.Sources) == 0 {
			continue
		}
		n.Hosts++
		switch {
		case crawler.Believed(h.Announced):
			n.Believed++
		case crawler.Doubted(h.Announced):
			n.Doubted++
		}
	}
	return n, nil
}

func (n *watchNews) print(w io.Writer) {
	if n.Hosts == 0 {
		return
	}
	printable.Fprintf(w, "\nSitemaps and feeds: %d hosts have some; those of %d hosts reported changes correctly, those of %d did not.\n", n.Hosts, n.Believed, n.Doubted)
	if n.Asked > 0 {
		printable.Fprintf(w, "They were fetched %d times: %d unchanged, %d failed. They name %d pages as changed since the last visit, and %d new URLs (--json lists these).\n",
			n.Asked, n.NotModified, n.Failed, n.Changed, n.New)
	}
}
