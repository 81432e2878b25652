package main

import (
	"testing"

	"fossick/datasets"
	"fossick/internal/page"
)

// BenchmarkMainText is what it takes a worker to find the main text of a page, beside parsing
// it. A changed page needs two; a kept checksum would save one.
func BenchmarkMainText(b *testing.B) {
	set, err := datasets.Open("demo", datasets.Options{})
	if err != nil {
		b.Fatal(err)
	}
	type body struct {
		url  string
		html []byte
	}
	var all []body
	for e, err := range set.Examples() {
		if err != nil {
			b.Fatal(err)
		}
		if len(e.HTML) > 0 {
			all = append(all, body{e.URL, []byte(e.HTML)})
		}
	}
	bytes := 0
	for _, p := range all {
		bytes += len(p.html)
	}
	for _, c := range []struct {
		name string
		do   func(p body)
	}{
		{"parse", func(p body) { _, _ = page.Parse(p.html, page.ParseOptions{URL: p.url, ContentType: "text/html"}) }},
		{"text", func(p body) { mainTextOf(p.html, "text/html", p.url) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				c.do(all[i%len(all)])
				i++
			}
			b.ReportMetric(float64(bytes)/float64(len(all)), "bytes/page")
		})
	}
}
