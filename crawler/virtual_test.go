package crawler

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"fossick/internal/page"
	"fossick/internal/testkit"
)

// TestVirtualManners: a virtual crawl's time follows from workers, rests and exchanges.
func TestVirtualManners(t *testing.T) {
	const hosts, pages = 4, 10
	web := func(u string) Answer {
		host, path, _ := strings.Cut(strings.TrimPrefix(u, "http://"), "/")
		n, _ := strconv.Atoi(path)
		links := ""
		for next := n + 1; next < pages; next++ {
			links += fmt.Sprintf("<a href=/%d>next</a> ", next)
		}
		words := strings.ReplaceAll(fmt.Sprintf("%s%d", strings.TrimSuffix(host, ".example"), n), "", "x ")
		p, err := page.Parse([]byte("<title>"+u+"</title>"+words+links), page.ParseOptions{URL: u, ContentType: "text/html"})
		if err != nil {
			t.Error(err)
		}
		return Answer{Page: p, Took: 100 * time.Millisecond}
	}
	var seeds []string
	for h := range hosts {
		seeds = append(seeds, fmt.Sprintf("http://h%d.example/", h))
	}
	for _, c := range []struct {
		name    string
		workers int
		delay   Delay
		want    time.Duration
	}{
		// All hosts at once: each rests after robots.txt and after each page but the last.
		{"more workers than hosts", 32, Delay{Fixed: true, Rest: time.Second}, pages*1100*time.Millisecond + 100*time.Millisecond},
		// One of four workers is not for hosts without an answer, so one host is late.
		{"a worker a host", hosts, Delay{Fixed: true, Rest: time.Second}, pages*1100*time.Millisecond + 200*time.Millisecond},
		{"one worker that never rests", 1, Delay{Off: true}, hosts * pages * 100 * time.Millisecond},
		{"no manners", 0, Delay{}, hosts * pages * 100 * time.Millisecond},
		{"two workers that never rest", 2, Delay{Off: true}, hosts * pages / 2 * 100 * time.Millisecond},
	} {
		order := ordering(t, "bfs")
		r := testkit.Call(Virtual(t.Context(), Options{
			Scorer: wordScorer{}, Ordering: order, Seeds: seeds, Workers: c.workers, Delay: c.delay,
			FollowTraps: true, KeepNear: true,
		}, web)).Must(t)
		if len(r.Pages) != hosts*pages || r.Took != c.want {
			t.Errorf("%s: %d pages in %v, want %d in %v", c.name, len(r.Pages), r.Took, hosts*pages, c.want)
		}
	}
}
