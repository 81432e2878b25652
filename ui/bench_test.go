package ui

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"fossick/store"
)

// BenchmarkList opens the list of a store of synthetic pages (FOSSICK_UI_PAGES, by default 20,000): the
// time to the first rows, the processor time of the pass, the memory a page, and the time of a page of
// the sorted list.
func BenchmarkList(b *testing.B) {
	n := 20_000
	if text := os.Getenv("FOSSICK_UI_PAGES"); text != "" {
		n, _ = strconv.Atoi(text)
	}
	dir := synthetic(b, n)
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		f := atRest(dir, atRestOptions)
		began, used := time.Now(), processorTime()
		var got pagesAnswer
		ask := func(query string) time.Duration {
			from := time.Now()
			v, err := f.pages(httptest.NewRequest("GET", "/pages?"+query, nil))
			if err != nil {
				b.Fatal(err)
			}
			got = v.(pagesAnswer)
			return time.Since(from)
		}
		ask("limit=50")
		first := time.Since(began)
		for ; !got.Complete; ask("limit=50") {
		}
		b.ReportMetric(first.Seconds(), "s-to-first-rows")
		b.ReportMetric((processorTime() - used).Seconds(), "cpu-s-to-all-rows")
		b.ReportMetric(float64(ask("sort=score&offset=1000").Microseconds())/1000, "ms-to-sort")
		b.ReportMetric(float64(ask("sort=score&offset=10000").Microseconds())/1000, "ms-to-scroll")
		b.ReportMetric(float64(ask("host=h1.test&min=0.5").Microseconds())/1000, "ms-to-filter")
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(n), "B/page")
		if got.Total == 0 {
			b.Fatal("no rows")
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// synthetic makes a store of n pages on 1,000 hosts.
func synthetic(b *testing.B, n int) string {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "big")
	s, err := store.Create(dir, store.Info{Topic: "bees"})
	if err != nil {
		b.Fatal(err)
	}
	packed := s.Compress([]byte("<p>honey</p>"))
	counts := store.Counts{States: map[string]uint64{}}
	batch := s.Batch()
	for i := 1; i <= n; i++ {
		id, address := store.ID(i), fmt.Sprintf("http://h%d.test/folder/page-%d.html", i%1000, i)
		counts.URLs, counts.Pages, counts.States["ok"] = uint64(i), uint64(i), uint64(i)
		p := &store.Page{
			Number: uint64(i), ID: id, URL: address, ContentType: "text/html", Title: fmt.Sprintf("A page of some title, the %dth", i*7919%n), Lang: "en",
			Score: float64(i*7919%1000) / 1000, Relevant: i%3 == 0, Label: "bees", Bytes: 12, At: int64(i) * 1000, Checksum: []byte(address),
		}
		err := batch.PutDiscovery(id, store.Discovery{URL: address, Via: store.ViaSeed})
		if err == nil {
			err = batch.PutOutcome(id, store.Outcome{State: "ok", Page: p.Number, At: p.At})
		}
		if err == nil {
			err = batch.PutPage(p, packed)
		}
		if err == nil && (batch.Size() > store.MaxBatchBytes || i == n) {
			if err = batch.PutCounts(&counts); err == nil {
				err = batch.Commit()
			}
			batch = s.Batch()
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	batch.Cancel()
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	return dir
}
