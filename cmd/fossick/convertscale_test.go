package main

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"fossick/internal/fulltest"
	"fossick/store"
)

// TestConvertMemory converts two made stores of one web and looks at the memory that it had:
// below 512 MiB, whatever their size.
//
//	FOSSICK_FULL=1 FOSSICK_PAGES=500000 go test ./cmd/fossick -run ConvertMemory -v -timeout 1h
func TestConvertMemory(t *testing.T) {
	fulltest.Only(t, "makes stores of many pages")
	pages := fromEnv("FOSSICK_PAGES", 40_000)
	const linksEach = 12
	root := t.TempDir()
	dirs := []string{filepath.Join(root, "a"), filepath.Join(root, "b")}
	for i, dir := range dirs {
		makeWeb(t, dir, i, pages, linksEach)
	}
	ran := runFossick(t, append([]string{"convert", "-o", filepath.Join(root, "out"), "--json", "--quiet"}, dirs...), time.Hour, func() bool { return false })
	var r convertResult
	if err := json.Unmarshal(ran.stdout, &r); err != nil {
		t.Fatal(err)
	}
	if r.Pages != uint64(2*pages-pages/10) || r.Repeated != uint64(pages/10) || r.Links < uint64(pages*linksEach) {
		t.Errorf("%+v", r)
	}
	t.Logf("%d pages, %d links of %d: %.1f s, %d MB resident at most", r.Pages, r.Links, 2*pages*linksEach, r.Seconds, ran.peak/1e6)
	if ran.peak > 512<<20 {
		t.Errorf("it had %d bytes", ran.peak)
	}
}

// makeWeb makes the store of one of two crawls. URL i is crawl 0's for i < pages; crawl 1 has
// the last tenth of these too, and as many new ones less. Links lead to any of both.
func makeWeb(t *testing.T, dir string, crawl, pages, linksEach int) {
	t.Helper()
	s, err := store.Create(dir, store.Info{Topic: "banking"})
	if err != nil {
		t.Fatal(err)
	}
	first := crawl * (pages - pages/10) // URL of page 1
	all := 2*pages - pages/10
	rng := rand.New(rand.NewPCG(uint64(crawl), 6))
	idOf := func(url int) store.ID { return store.ID((url-first+all)%all + 1) }
	b := s.Batch()
	commit := func() {
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
		b = s.Batch()
	}
	urlOf := func(url int) string { return fmt.Sprintf("http://h%d.site%d.test/page/%d", url%5000, url%1000, url) }
	for n := range all {
		url := (first + n) % all
		p := &store.Page{Number: uint64(n + 1), ID: idOf(url), URL: urlOf(url), Title: "a page of many", Label: "banking", At: int64(n), Checksum: binary.BigEndian.AppendUint64(make([]byte, 8), uint64(n))}
		err := b.PutBirth(p.ID, store.Birth{URL: p.URL, Via: store.ViaSeed})
		if n < pages {
			for range linksEach {
				p.Links = append(p.Links, idOf(rng.IntN(all)))
			}
			body := fmt.Sprintf("<meta name=description content='page %d'><p>Words.", n)
			err = errors.Join(err, b.PutPage(p, s.Compress([]byte(body))), b.PutFate(p.ID, store.Fate{State: "ok", Page: p.Number}))
		}
		if err != nil {
			t.Fatal(err)
		}
		if n%500 == 499 {
			commit()
		}
	}
	if err := b.PutCounts(&store.Counts{URLs: uint64(all), Pages: uint64(pages), States: map[string]uint64{"ok": uint64(pages)}}); err != nil {
		t.Fatal(err)
	}
	commit()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
