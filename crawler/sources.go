package crawler

import (
	"slices"

	"fossick/internal/page"
	"fossick/store"
)

// Limits of what is kept.
const (
	maxSources = 50      // of a host
	maxFresh   = 100_000 // URLs that are known to be new, by their keys
	maxNamed   = 1000    // of these, those that are named
)

// add has a host's sources be these too, as far as they are its own and there is room.
func add(a *store.Announced, host string, urls ...string) {
	for _, u := range urls {
		known := slices.ContainsFunc(a.Sources, func(s store.Source) bool { return s.URL == u })
		if !known && len(a.Sources) < maxSources && page.Host(u) == host {
			a.Sources = append(a.Sources, store.Source{URL: u})
		}
	}
}

// find returns the source of a URL, nil for none.
func find(a *store.Announced, url string) *store.Source {
	for i := range a.Sources {
		if a.Sources[i].URL == url {
			return &a.Sources[i]
		}
	}
	return nil
}

// NewsCounts are what a session's sources have told.
type NewsCounts struct {
	Asked       uint64   // exchanges for them
	NotModified uint64   // 304
	Failed      uint64   // no answer that tells
	Changed     uint64   // pages that changed since they were seen, as they say
	New         uint64   // URLs that nobody knew, up to some 100,000
	URLs        []string // the first maxNamed of these, in order of their discovery

	keys map[uint64]struct{}
}

// fresh counts a URL that is not known, each once.
func (c *NewsCounts) fresh(url string) {
	key := page.Key(url)
	if _, had := c.keys[key]; had || len(c.keys) >= maxFresh {
		return
	}
	if c.keys == nil {
		c.keys = map[uint64]struct{}{}
	}
	c.keys[key] = struct{}{}
	if c.New++; len(c.URLs) < maxNamed {
		c.URLs = append(c.URLs, url)
	}
}

// plus adds what another session has brought.
func (c NewsCounts) plus(o NewsCounts) NewsCounts {
	sum := NewsCounts{Asked: c.Asked + o.Asked, NotModified: c.NotModified + o.NotModified, Failed: c.Failed + o.Failed, Changed: c.Changed + o.Changed, New: c.New + o.New}
	sum.URLs = append(slices.Clone(c.URLs), o.URLs...)
	sum.URLs = sum.URLs[:min(len(sum.URLs), maxNamed)]
	return sum
}
