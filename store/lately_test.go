package store

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
)

// TestSeenLatelyIsTrue holds the seen-set with what it remembers to a map, through
// batches kept and dropped, URLs skipped and wanted after all.
func TestSeenLatelyIsTrue(t *testing.T) {
	s, err := Create(filepath.Join(t.TempDir(), "s"), Info{})
	must(t, err)
	defer s.Close()
	s.FilterSeen()
	rng := rand.New(rand.NewPCG(1, 2))
	url := func(n int) Hash { return HashURL(fmt.Sprint("http://h.example/", n)) }
	disk := map[int]Seen{}
	for range 300 {
		b := s.Batch()
		batch := map[int]Seen{}
		for range rng.IntN(20) {
			n := rng.IntN(500)
			now, known := batch[n]
			if !known {
				now = disk[n]
			}
			got, err := b.Lookup(url(n))
			must(t, err)
			if got != now {
				t.Fatalf("a batch says %v of URL %d, want %v", got, n, now)
			}
			switch {
			case now.ID == 0:
				now = Seen{ID: ID(n + 1), Skipped: rng.IntN(2) == 0}
				must(t, b.PutSeen(url(n), now.ID, now.Skipped))
			case now.Skipped:
				now.Skipped = false
				must(t, b.Unskip(url(n), now.ID))
			}
			batch[n] = now
		}
		if rng.IntN(3) == 0 {
			b.Cancel()
		} else {
			must(t, b.Commit())
			for n, seen := range batch {
				disk[n] = seen
			}
		}
		for range 30 {
			n := rng.IntN(500)
			if got, err := lookedUp(s, url(n)); err != nil || got != disk[n] {
				t.Fatalf("URL %d is %v (%v), want %v", n, got, err, disk[n])
			}
		}
	}
}

func BenchmarkLookupKnown(b *testing.B) {
	for _, filtered := range []bool{false, true} {
		b.Run(fmt.Sprintf("lately=%v", filtered), func(b *testing.B) {
			s, err := Create(filepath.Join(b.TempDir(), "s"), Info{})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			if filtered {
				s.FilterSeen()
			}
			hashes := make([]Hash, 26)
			batch := s.Batch()
			for i := range 10_000 {
				hashes[i%26] = HashURL(fmt.Sprint("http://h.example/", i))
				if err := batch.PutSeen(hashes[i%26], ID(i+1), false); err != nil {
					b.Fatal(err)
				}
			}
			if err := batch.Commit(); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Lookup(hashes); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
