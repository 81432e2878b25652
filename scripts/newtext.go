//go:build ignore

// Newtext is a proxy to 40 good hosts of 40 pages, on science with words of the built-in
// demo set, and to one site without end beside them: a.endless.test, b.endless.test and
// so on, each page of which has other words of the same set's other pages, and links to
// ten more. Every good page links there too.
//
//	go run scripts/newtext.go ADDR
//	fossick focus --topic science --model science --proxy http://ADDR --seed http://h0.test/0 --delay 0 --max-pages 20000 --store DIR
//
// A crawl that follows it gives nearly all of its pages to the site without end: 18,400
// of 20,000 with --traps follow, 507 of 2,107 without.
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
	"fossick/page"
)

const hosts, pagesAHost = 40, 40

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: go run scripts/newtext.go HOST:PORT")
	}
	science, other, err := words()
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe(os.Args[1], http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sum := fnv.New64a()
		_, _ = sum.Write([]byte(r.URL.Host + r.URL.Path))
		rng := rand.New(rand.NewPCG(sum.Sum64(), 1))
		endless := func() string { return fmt.Sprintf("http://%c.endless.test/%x", 'a'+rng.IntN(8), rng.Uint64()) }
		var links []string
		from := other
		var host, n int
		switch _, err := fmt.Sscanf(r.URL.Host+r.URL.Path, "h%d.test/%d", &host, &n); {
		case r.URL.Path == "/robots.txt":
			http.NotFound(w, r)
			return
		case err == nil && host < hosts && n < pagesAHost:
			from = science
			links = append(links, endless(), fmt.Sprintf("http://h%d.test/%d", host, (n+1)%pagesAHost))
			for range 4 {
				links = append(links, fmt.Sprintf("http://h%d.test/%d", rng.IntN(hosts), rng.IntN(pagesAHost)))
			}
		default:
			for range 10 {
				links = append(links, endless())
			}
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(body(rng, from, links)) // the client may be gone
	})))
}

func body(rng *rand.Rand, words, links []string) []byte {
	word := func() string { return words[rng.IntN(len(words))] }
	b := fmt.Appendf(nil, "<!DOCTYPE html>\n<html lang=\"en\"><title>%s %s %s</title><body>\n", word(), word(), word())
	for _, link := range links {
		b = append(b, "<p>"...)
		for range 20 {
			b = append(append(b, word()...), ' ')
		}
		b = fmt.Appendf(b, "<a href=\"%s\">%s %s</a></p>\n", link, word(), word())
	}
	return b
}

// words returns the words of the demo set's pages on science, and of the others.
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
