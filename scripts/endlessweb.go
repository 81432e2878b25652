//go:build ignore

// Endlessweb is a proxy to one of two endless webs. It makes a page on request, always the same one,
// from the words of the demo set's pages, on science or not.
//
//	go run scripts/endlessweb.go ADDR [hosts|site]
//
// hosts (the default) has 200,000 hosts of 200 pages, each of about 2.5 KB with 20 random links; a fifth
// of the pages are on science.
//
// site has 40 good hosts of 40 pages on science, and an endless site (a.endless.test, b.endless.test, …)
// whose every page links to ten more. Every good page links to it.
//
//	fossick focus --topic science --model science --proxy http://ADDR --seed http://h0.test/0 --delay 0 --max-pages 20000 --store DIR
//
// With --also traps a crawl gives 18,400 of 20,000 pages to the endless site, without it 505 of 2,105.
package main

import (
	"fmt"
	"hash/fnv"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"

	"fossick/datasets"
	"fossick/internal/page"
)

// A web returns the page at a host's name and path, nil for none.
type web func(address string) []byte

func main() {
	science, other, err := words()
	if err != nil {
		log.Fatal(err)
	}
	webs := map[string]web{"hosts": endlessHosts(science, other), "site": endlessSite(science, other)}
	shape := "hosts"
	if len(os.Args) == 3 {
		shape = os.Args[2]
	}
	made := webs[shape]
	if made == nil || len(os.Args) < 2 || len(os.Args) > 3 {
		log.Fatal("usage: go run scripts/endlessweb.go HOST:PORT [hosts|site]")
	}
	log.Fatal(http.ListenAndServe(os.Args[1], http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := made(r.URL.Host + r.URL.Path)
		if body == nil || r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(body) // the client may be gone
	})))
}

func endlessHosts(science, other []string) web {
	const hosts, pagesAHost, linksAPage = 200_000, 200, 20
	return func(address string) []byte {
		var host, n uint64
		if _, err := fmt.Sscanf(address, "h%d.test/%d", &host, &n); err != nil {
			return nil
		}
		rng := rand.New(rand.NewPCG(host, n))
		words := other
		if rng.IntN(5) == 0 {
			words = science
		}
		links := make([]string, linksAPage)
		for i := range links {
			links[i] = fmt.Sprintf("http://h%d.test/%d", rng.IntN(hosts), rng.IntN(pagesAHost))
		}
		return body(rng, words, links, 5)
	}
}

func endlessSite(science, other []string) web {
	const hosts, pagesAHost = 40, 40
	return func(address string) []byte {
		sum := fnv.New64a()
		_, _ = sum.Write([]byte(address)) // never fails
		rng := rand.New(rand.NewPCG(sum.Sum64(), 1))
		endless := func() string { return fmt.Sprintf("http://%c.endless.test/%x", 'a'+rng.IntN(8), rng.Uint64()) }
		var links []string
		var host, n int
		if _, err := fmt.Sscanf(address, "h%d.test/%d", &host, &n); err != nil || host >= hosts || n >= pagesAHost {
			for range 10 {
				links = append(links, endless())
			}
			return body(rng, other, links, 10)
		}
		links = append(links, endless(), fmt.Sprintf("http://h%d.test/%d", host, (n+1)%pagesAHost))
		for range 4 {
			links = append(links, fmt.Sprintf("http://h%d.test/%d", rng.IntN(hosts), rng.IntN(pagesAHost)))
		}
		return body(rng, science, links, 10)
	}
}

// body returns a page with around words before each link and at the end.
func body(rng *rand.Rand, words, links []string, around int) []byte {
	word := func() string { return words[rng.IntN(len(words))] }
	b := fmt.Appendf(make([]byte, 0, 4096), "<!DOCTYPE html>\n<html lang=\"en\"><title>%s %s %s</title><body>\n", word(), word(), word())
	for _, link := range links {
		b = append(b, "<p>"...)
		for range around {
			b = append(append(b, word()...), ' ')
		}
		b = fmt.Appendf(b, "<a href=%q>%s %s</a>", link, word(), word())
		for range around {
			b = append(append(b, ' '), word()...)
		}
		b = append(b, "</p>\n"...)
	}
	return b
}

// words returns the words of the demo set's pages on science, and those of the others.
func words() (science, other []string, err error) {
	set, err := datasets.Open("demo", datasets.Options{})
	if err != nil {
		return nil, nil, err
	}
	for e, err := range set.Examples() {
		if err != nil {
			return nil, nil, err
		}
		p, err := page.Parse([]byte(e.HTML), page.ParseOptions{URL: e.URL})
		if err != nil {
			return nil, nil, err
		}
		found := strings.FieldsFunc(p.Text, func(r rune) bool { return r < 'A' || r > 'z' || r > 'Z' && r < 'a' })
		if e.Label == "science" {
			science = append(science, found...)
		} else {
			other = append(other, found...)
		}
	}
	return science, other, nil
}
