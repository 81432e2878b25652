package store

import (
	"fmt"
	"path/filepath"
	"testing"
)

// BenchmarkWaiters is what a resume costs: reading the queue, of which every third
// URL waits.
func BenchmarkWaiters(b *testing.B) {
	s, err := Create(filepath.Join(b.TempDir(), "s"), Info{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	const urls = 600_000
	for n := 1; n <= urls; {
		batch := s.Batch()
		for end := min(n+5000, urls+1); n < end; n++ {
			birth := Birth{URL: fmt.Sprintf("http://host%d.example/folder/page%d.html", n%999, n), From: ID(n / 2), Via: ViaLink, Depth: 3, At: 1.7e12}
			if err := batch.PutBirth(ID(n), birth); err != nil {
				b.Fatal(err)
			}
			if n%3 == 0 {
				if err := batch.PutQueued(ID(n), Queued{Priority: 0.3, Score: 0.3, Parent: ID(n / 2)}); err != nil {
					b.Fatal(err)
				}
			}
		}
		if err := batch.Commit(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range s.Waiters() {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != urls/3 {
			b.Fatalf("%d URLs wait, want %d", n, urls/3)
		}
	}
	b.ReportMetric(float64(urls/3*b.N)/b.Elapsed().Seconds(), "URLs/s")
}
