package cluster

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler"
	"fossick/internal/testkit"
	"fossick/store"
)

// TestFlood: one agent sends so many URLs to the others that in full tests they arrive until the end,
// 20,000 a second. The others still fetch at least four fifths as fast as without.
func TestFlood(t *testing.T) {
	urls, span := testkit.Rounds(5000, 180_000), 4*time.Second
	rate := func(urls int) (perSecond float64) {
		synctest.Test(t, func(t *testing.T) { perSecond = floodRate(t, urls, span) })
		return perSecond
	}
	alone, flooded := rate(0), rate(urls)
	t.Logf("%.1f pages/s without, %.1f with %d URLs from one agent", alone, flooded, urls)
	if alone == 0 || flooded < .8*alone {
		t.Errorf("%.1f pages/s with %d URLs from one agent, %.1f without", flooded, urls, alone)
	}
}

// floodRate returns the pages a second of two agents while a third sends URLs of a site without
// pages.
func floodRate(t *testing.T, urls int, span time.Duration) float64 {
	g := newGroup(t, &web{sites: 24, pages: 3000, took: 20 * time.Millisecond}, 0)
	g.all, g.none, g.rest = true, true, 100*time.Millisecond
	const flooder = "cccccccccccccccc"
	s := storeOf(t, flooder)
	g.stores[flooder] = s
	const each = 1000
	counts, parts := store.Counts{}, newSites()
	for first := 0; first < urls; first += each {
		p := crawler.Parcel{Via: store.ViaSitemap}
		host := fmt.Sprintf("http://flood%d.test/", first/each%8)
		for i := range each {
			p.Links = append(p.Links, crawler.Link{URL: fmt.Sprint(host, first+i), Score: .1})
		}
		b := s.Batch()
		testkit.Must(t, store.OutboxIn(b).Put(parts.Part(host), &counts, p.Pack()))
		testkit.Must(t, b.PutCounts(&counts))
		testkit.Must(t, b.Commit())
	}
	for _, id := range []string{"aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb", flooder} {
		g.start(id, true)
	}
	time.Sleep(5 * time.Second)
	from := time.Now()
	time.Sleep(span)
	g.web.mu.Lock()
	n := 0
	for _, a := range g.web.log {
		if strings.HasPrefix(a.host, "s") && a.start.After(from) {
			n++
		}
	}
	g.web.mu.Unlock()
	for id := range g.members {
		g.stop(id)
	}
	var known uint64
	for id, s := range g.stores {
		c := testkit.Call(s.Counts()).Must(t)
		if id != flooder {
			known += c.URLs
		}
	}
	t.Logf("%d URLs sent, %d known to the two others", urls, known)
	return float64(n) / span.Seconds()
}
