package main

import (
	"io"
	"path/filepath"
	"testing"

	"fossick/internal/fulltest"
)

// BenchmarkStats counts an import of msdocs, 181,219 pages, from opening the store on.
func BenchmarkStats(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "store")
	if code := run(b.Context(), []string{"import", fulltest.Corpus(b, "msdocs"), "--store", dir, "--quiet"}, io.Discard, io.Discard); code != exitDone {
		b.Fatalf("import: %d", code)
	}
	const pages = 181219
	b.ReportAllocs()
	for b.Loop() {
		if code := run(b.Context(), []string{"stats", dir, "--json", "--quiet"}, io.Discard, io.Discard); code != exitDone {
			b.Fatal(code)
		}
	}
	b.ReportMetric(pages*float64(b.N)/b.Elapsed().Seconds(), "pages/s")
}
