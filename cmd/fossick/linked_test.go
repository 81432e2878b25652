package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"fossick/datasets"
)

// linkedWeb is a web of hosts h0.test… with so many pages each, all of which
// can be reached from http://h0.test/0. Each page links to its host's next, to
// the next host's first, and to three others anywhere. Every tenth has a link
// with rel=nofollow to a page that nothing else names, and every eleventh says
// nofollow of all its links. No two pages have the same content.
func linkedWeb(hosts, pages int) *datasets.Set {
	return datasets.FromSeq("linked", func(yield func(*datasets.Example, error) bool) {
		rng := rand.New(rand.NewPCG(uint64(hosts), uint64(pages)))
		for h := range hosts {
			for p := range pages {
				if !yield(linkedPage(rng, h, p, hosts, pages), nil) {
					return
				}
				if p%10 == 5 && !yield(&datasets.Example{URL: fmt.Sprintf("http://h%d.test/secret/%d", h, p), HTML: "<title>Secret</title>"}, nil) {
					return
				}
			}
		}
	}, datasets.Options{})
}

func linkedPage(rng *rand.Rand, h, p, hosts, pages int) *datasets.Example {
	var b strings.Builder
	fmt.Fprintf(&b, "<!DOCTYPE html><title>Page %d of host %d</title>", p, h)
	if p%11 == 7 && p+1 < pages { // the last page's links are nobody's only way
		b.WriteString("<meta name=robots content=nofollow>")
		fmt.Fprintf(&b, "<a href=/hidden/%d>hidden</a>", p)
	}
	fmt.Fprintf(&b, "<p>This is the page with the number %d of the host with the number %d. Word%d word%d.", p, h, rng.IntN(1e6), h*pages+p)
	link := func(h, p int) { fmt.Fprintf(&b, "\n<a href=\"http://h%d.test/%d\">the page %d</a>", h, p, p) }
	link((h+1)%hosts, 0)
	// Twice around, so that one nofollow on the way hides nothing.
	link(h, (p+1)%pages)
	link(h, (p+2)%pages)
	for range 3 {
		link(rng.IntN(hosts), rng.IntN(pages))
	}
	if p%10 == 5 {
		fmt.Fprintf(&b, "\n<a rel=nofollow href=/secret/%d>secret</a>", p)
	}
	return &datasets.Example{URL: fmt.Sprintf("http://h%d.test/%d", h, p), HTML: b.String()}
}

// linkedSecret says whether a path of linkedWeb is one that its authors ask not
// to follow links to.
func linkedSecret(path string) bool {
	return strings.HasPrefix(path, "/secret/") || strings.HasPrefix(path, "/hidden/")
}
