//go:build ignore

// Endlessweb is a proxy to a web that has no end worth speaking of: 200,000 hosts of
// 200 pages, each of about 2.5 KB with 20 links to anywhere. A page is made when it is
// asked for, always the same; a fifth of the pages speak of science with words of
// the built-in demo set.
//
//	go run scripts/endlessweb.go ADDR
package main

import (
	"fmt"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"

	"fossick/datasets"
	"fossick/page"
)

const hosts, pagesAHost, links = 200_000, 200, 20

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: go run scripts/endlessweb.go HOST:PORT")
	}
	science, other, err := words()
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe(os.Args[1], http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var host, n uint64
		if _, err := fmt.Sscanf(r.URL.Host+r.URL.Path, "h%d.test/%d", &host, &n); err != nil {
			http.NotFound(w, r)
			return
		}
		rng := rand.New(rand.NewPCG(host, n))
		from := other
		if rng.IntN(5) == 0 {
			from = science
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(body(rng, from)) // the client may be gone
	})))
}

func body(rng *rand.Rand, words []string) []byte {
	word := func() string { return words[rng.IntN(len(words))] }
	b := fmt.Appendf(make([]byte, 0, 4096), "<!DOCTYPE html>\n<html lang=\"en\"><title>%s %s %s</title><body>\n", word(), word(), word())
	for range links {
		b = append(b, "<p>"...)
		for range 5 {
			b = append(append(b, word()...), ' ')
		}
		b = fmt.Appendf(b, "<a href=\"http://h%d.test/%d\">%s %s</a>", rng.IntN(hosts), rng.IntN(pagesAHost), word(), word())
		for range 5 {
			b = append(append(b, ' '), word()...)
		}
		b = append(b, "</p>\n"...)
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
