package eval

import (
	"cmp"
	"context"
	"slices"

	"fossick/internal/page"
	"fossick/store"
)

// crawlTrail is a crawl's requests in order, their links, and the frontier; URLs are page.Key values.
type crawlTrail struct {
	Steps   []trailStep
	Waiting []waitingURL
	// Redirects maps a redirecting URL to its target.
	Redirects map[uint64]uint64
	// Thin, a power of two, is the sampling rate of linked URLs: keys divisible by it are kept.
	Thin uint64
}

// trailStep is a requested URL.
type trailStep struct {
	Key, Host uint64
	Promise   float64  // the frontier's score when the URL left it
	Page      int      // index in Crawl.Pages; -1 when no page was stored
	Links     []uint64 // keys of the page's links
	Start     bool
}

type waitingURL struct {
	Key, Host uint64
	Promise   float64 // the frontier's score
}

// maxTargets bounds the memory of a trail, about 100 bytes a URL; beyond it a sample is kept.
const maxTargets = 1 << 21

// loadTrail reads frontier, outcomes and links from the store; loadCrawl must have run.
func (c *judgedCrawl) loadTrail(ctx context.Context, s *store.Store) error {
	l := trailLoader{
		trail: &crawlTrail{Redirects: map[uint64]uint64{}, Thin: thinning(c.Counts.URLs, maxTargets)},
		keys:  make([]uint64, c.Counts.URLs+1),
		pages: make([]step, len(c.Pages)),
	}
	for _, pass := range []func(context.Context, *store.Store) error{l.queue, l.outcomes, l.links} {
		if err := pass(ctx, s); err != nil {
			return err
		}
	}
	l.trail.Steps = l.inOrder()
	c.Trail = l.trail
	return nil
}

// thinning returns the least power of two that divides n down to at most most.
func thinning(n, most uint64) uint64 {
	thin := uint64(1)
	for n/thin > most {
		thin *= 2
	}
	return thin
}

type trailLoader struct {
	trail  *crawlTrail
	keys   []uint64 // by ID; 0 for a URL that was never requested nor waits
	pages  []step   // in crawl order
	failed []step
}

type step struct {
	trailStep
	at int64
}

// requested reports whether a URL in this state was fetched.
func requested(state string) bool {
	switch state {
	case "none", "trap", "robots_denied", "guard_denied":
		return false
	}
	return true
}

func (l *trailLoader) enter(id store.ID, url string) (key, host uint64) {
	key = page.Key(url)
	if int(id) < len(l.keys) {
		l.keys[id] = key
	}
	return key, page.Key(page.Host(url))
}

func (t *crawlTrail) kept(key uint64) bool { return key != 0 && key%t.Thin == 0 }

func (l *trailLoader) queue(ctx context.Context, s *store.Store) error {
	for w, err := range s.URLs().Waiters() {
		if err = cmp.Or(err, context.Cause(ctx)); err != nil {
			return err
		}
		key, host := l.enter(w.ID, w.URL)
		if l.trail.kept(key) {
			l.trail.Waiting = append(l.trail.Waiting, waitingURL{key, host, w.Score})
		}
	}
	return nil
}

func (l *trailLoader) outcomes(ctx context.Context, s *store.Store) error {
	for e, err := range s.URLs().Ended("") {
		if err = cmp.Or(err, context.Cause(ctx)); err != nil {
			return err
		}
		if !requested(e.State) {
			continue
		}
		key, host := l.enter(e.ID, e.URL)
		if from := int(e.From); e.Via == store.ViaRedirect && from < len(l.keys) && l.keys[from] != 0 {
			l.trail.Redirects[l.keys[from]] = key
		}
		st := step{trailStep{Key: key, Host: host, Promise: e.Score, Page: -1, Start: e.Via == store.ViaSeed}, e.Outcome.At}
		switch n := int(e.Page); {
		case e.State == "ok" && n >= 1 && n <= len(l.pages):
			st.Page = n - 1
			l.pages[n-1] = st
		case e.State != "ok" && e.State != "redirect": // a redirect counts through its target
			l.failed = append(l.failed, st)
		}
	}
	return nil
}

func (l *trailLoader) links(ctx context.Context, s *store.Store) error {
	i := 0
	for p, err := range s.Pages() {
		if err = cmp.Or(err, context.Cause(ctx)); err != nil {
			return err
		}
		if i >= len(l.pages) {
			break // written since loadCrawl
		}
		st := &l.pages[i]
		i++
		st.at = p.At
		for _, id := range p.Links {
			if int(id) >= len(l.keys) {
				continue
			}
			key := l.keys[id]
			if to, ok := l.trail.Redirects[key]; ok {
				key = to
			}
			if l.trail.kept(key) {
				st.Links = append(st.Links, key)
			}
		}
		st.Links = slices.Clip(st.Links)
	}
	return nil
}

// inOrder merges pages and failures by time: crawl order, each failure before the first later page.
func (l *trailLoader) inOrder() []trailStep {
	slices.SortStableFunc(l.failed, func(a, b step) int { return cmp.Compare(a.at, b.at) })
	steps := make([]trailStep, 0, len(l.pages)+len(l.failed))
	next := 0
	for _, p := range l.pages {
		for ; next < len(l.failed) && l.failed[next].at < p.at; next++ {
			steps = append(steps, l.failed[next].trailStep)
		}
		if p.Key != 0 {
			steps = append(steps, p.trailStep)
		}
	}
	for _, f := range l.failed[next:] {
		steps = append(steps, f.trailStep)
	}
	return steps
}
