package store

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"github.com/klauspost/compress/zstd"

	"fossick/internal/fulltest"
)

// BenchmarkCompress packs the first 2,000 pages of a corpus, one an operation: processor
// time of a page, and the bytes of one.
func BenchmarkCompress(b *testing.B) {
	for _, corpus := range []string{"wikispeedia", "webkb"} {
		b.Run(corpus, func(b *testing.B) {
			pages := realPages(b, corpus, 2000)
			s := create(b)
			packed := 0
			for _, body := range pages {
				packed += len(s.Compress(body))
			}
			b.ReportAllocs()
			n, before := 0, usedTime(b)
			for b.Loop() {
				s.Compress(pages[n%len(pages)])
				n++
			}
			b.ReportMetric(float64((usedTime(b)-before).Microseconds())/float64(n), "cpu-µs/page")
			b.ReportMetric(float64(packed)/float64(len(pages)), "bytes/page")
		})
	}
}

// realPages reads pages of a corpus of FOSSICK_DATA.
func realPages(b *testing.B, corpus string, most int) (pages [][]byte) {
	f, err := os.Open(fulltest.Corpus(b, corpus+"/pages.jsonl.zst"))
	must(b, err)
	defer f.Close() // it was only read
	unpacked, err := zstd.NewReader(f)
	must(b, err)
	defer unpacked.Close()
	for dec := json.NewDecoder(bufio.NewReader(unpacked)); len(pages) < most; {
		var row struct{ HTML string }
		must(b, dec.Decode(&row))
		pages = append(pages, []byte(row.HTML))
	}
	return pages
}
