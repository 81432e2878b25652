//go:build ignore

// Smallweb writes a web of small pages as JSON, one row a line: 200 hosts, pages of about 2 KB with 20
// links, a third of them to other hosts. The words are the demo set's, with their frequencies. Equal
// arguments give equal webs.
//
//	go run scripts/smallweb.go [PAGES [HOSTS]] >web.jsonl     default: 60000 200
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"fossick/datasets"
	"fossick/internal/page"
)

const (
	wordsAPage = 180
	linksAPage = 20
	nearby     = 13 // of these, on the same host
)

func main() {
	pages, hosts := number(1, 60_000), number(2, 200)
	words, err := demoWords()
	if err != nil {
		log.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	out := bufio.NewWriter(os.Stdout)
	rows := json.NewEncoder(out)
	url := func(host, n int) string { return fmt.Sprintf("http://h%d.test/%d", host, n) }
	for i := range pages {
		host, n := i%hosts, i/hosts
		var b strings.Builder
		title := strings.Join(some(rng, words, 5), " ")
		fmt.Fprintf(&b, "<!DOCTYPE html>\n<html lang=\"en\"><head><title>%s</title></head><body>\n<h1>%s</h1>\n", title, title)
		for k := range linksAPage {
			to, page := host, rng.IntN((pages-host+hosts-1)/hosts)
			if k >= nearby {
				to = rng.IntN(hosts)
				page = rng.IntN((pages - to + hosts - 1) / hosts)
			}
			if k == 0 && i+hosts < pages {
				to, page = host, n+1 // so that every page can be reached
			}
			if k == nearby && n == 0 && i+1 < min(hosts, pages) {
				to, page = host+1, 0
			}
			text := some(rng, words, wordsAPage/linksAPage)
			fmt.Fprintf(&b, "<p>%s <a href=\"%s\">%s</a> %s.</p>\n", strings.Join(text[:4], " "), url(to, page),
				strings.Join(text[4:6], " "), strings.Join(text[6:], " "))
		}
		b.WriteString("</body></html>\n")
		if err := rows.Encode(map[string]string{"url": url(host, n), "html": b.String()}); err != nil {
			log.Fatal(err)
		}
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}

func some(rng *rand.Rand, words []string, n int) []string {
	drawn := make([]string, n)
	for i := range drawn {
		drawn[i] = words[rng.IntN(len(words))]
	}
	return drawn
}

// demoWords returns all words of the demo set, repetitions included.
func demoWords() (words []string, err error) {
	set, err := datasets.Open("demo", datasets.Options{})
	if err != nil {
		return nil, err
	}
	for e, err := range set.Examples() {
		if err != nil {
			return nil, err
		}
		text := e.Text
		if e.HTML != "" {
			p, err := page.Parse([]byte(e.HTML), page.ParseOptions{URL: e.URL})
			if err != nil {
				return nil, err
			}
			text = p.Text
		}
		words = append(words, strings.FieldsFunc(text, func(r rune) bool { return r != '\'' && (r < 'A' || r > 'z' || r > 'Z' && r < 'a') })...)
	}
	return words, nil
}

func number(i, otherwise int) int {
	if len(os.Args) <= i {
		return otherwise
	}
	n, err := strconv.Atoi(os.Args[i])
	if err != nil || n < 1 {
		log.Fatalf("%s: want a number above 0", os.Args[i])
	}
	return n
}
