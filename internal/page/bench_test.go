package page

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"fossick/internal/testkit"
)

// syntheticPage returns an article of about 21 KB with 26 links, the mean of a real crawl.
func syntheticPage(rng *rand.Rand) []byte {
	syllables := strings.Fields("ta re mo li sen ka dor vi el an tus per gra mi no")
	word := func() string {
		var b strings.Builder
		for range 1 + rng.IntN(4) {
			b.WriteString(syllables[rng.IntN(len(syllables))])
		}
		return b.String()
	}
	var b strings.Builder
	b.WriteString("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>An article</title></head>\n<body>\n<h1>An article</h1>\n")
	for i := 0; b.Len() < 21_000; i++ {
		b.WriteString("<p>")
		for j := range 115 {
			if j == 40 {
				fmt.Fprintf(&b, `<a href="http://h%03d.test/wiki/%s_%%C3%%A9">%s %s</a> `, rng.IntN(238), word(), word(), word())
			}
			b.WriteString(word())
			b.WriteByte(' ')
		}
		b.WriteString("caf\u00e9.</p>\n")
	}
	b.WriteString("</body></html>")
	return []byte(b.String())
}

func BenchmarkParse(b *testing.B) {
	body := syntheticPage(rand.New(rand.NewPCG(1, 1)))
	opt := ParseOptions{URL: "http://h001.test/wiki/Article", ContentType: "text/html; charset=utf-8"}
	p := testkit.Call(Parse(body, opt)).Must(b)
	b.Logf("%d bytes, %d links, %d bytes of text", len(body), len(p.Links), len(p.Text))
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		testkit.Call(Parse(body, opt)).Must(b)
	}
}
