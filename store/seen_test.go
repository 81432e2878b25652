package store

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"fossick/internal/testkit"
)

func TestSeenFilterLosesNothing(t *testing.T) {
	f := &seenFilter{}
	url := func(n int) Hash { return HashURL(fmt.Sprint("http://h.example/", n)) }
	if f.lacks(url(1)) {
		t.Error("a filter that is not ready is sure of something")
	}
	const n = 600_000 // four filters per shard
	var adders sync.WaitGroup
	for k := range 4 {
		adders.Go(func() {
			for i := k; i < n; i += 4 {
				f.add(url(i))
			}
		})
	}
	adders.Wait()
	f.ready.Store(true)
	wrong := 0
	for i := range n {
		if f.lacks(url(i)) {
			t.Fatalf("URL %d was added and is said not to be there", i)
		}
		if !f.lacks(url(n + i)) {
			wrong++
		}
	}
	if share := float64(wrong) / n; share > 0.04 {
		t.Errorf("%.3f of the URLs that are not there pass the filter, want less than 0.04", share)
	}
}

// TestFilterSeen: the seen-set answers the same with and without the filter, and after a restart.
func TestFilterSeen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s := testkit.Call(Create(dir, Info{})).Must(t)
	for session := range 3 {
		if session > 0 {
			s = testkit.Call(Open(dir)).Must(t)
		}
		check := func() {
			t.Helper()
			for n := range 200 {
				seen := testkit.Call(lookedUp(s, HashURL(fmt.Sprint("http://h.example/", n)))).Must(t)
				want := Seen{}
				if n < 50*session {
					want = Seen{ID: ID(n + 1)}
				}
				if seen != want {
					t.Fatalf("session %d: URL %d is %v, want %v", session, n, seen, want)
				}
			}
		}
		check()
		s.FilterSeen()
		check()
		b := s.Batch()
		for n := 50 * session; n < 50*(session+1); n++ {
			h := HashURL(fmt.Sprint("http://h.example/", n))
			testkit.Must(t, b.PutSeen(h, ID(n+1), false))
			if seen, err := b.Lookup(h); err != nil || seen.ID != ID(n+1) {
				t.Fatalf("a batch does not see its own URL %d: %v, %v", n, seen, err)
			}
		}
		testkit.Must(t, b.Commit())
		testkit.Must(t, s.Close())
	}
}

func BenchmarkLookupNew(b *testing.B) {
	for _, filtered := range []bool{false, true} {
		b.Run(fmt.Sprintf("filter=%v", filtered), func(b *testing.B) {
			s := testkit.Call(Create(filepath.Join(b.TempDir(), "s"), Info{})).Must(b)
			defer s.Close()
			if filtered {
				s.FilterSeen()
			}
			for n := 0; n < 300_000; {
				batch := s.Batch()
				for end := n + 5000; n < end; n++ {
					testkit.Must(b, batch.PutSeen(HashURL(fmt.Sprint("http://h.example/", n)), ID(n+1), false))
				}
				testkit.Must(b, batch.Commit())
			}
			hashes := make([]Hash, 26)
			for i := range hashes {
				hashes[i] = HashURL(fmt.Sprint("http://new.example/", i))
			}
			b.ReportAllocs()
			for b.Loop() {
				testkit.Call(s.Lookup(hashes)).Must(b)
			}
		})
	}
}

// TestPageFilter: pages are found with and without the filter, and after a restart.
func TestPageFilter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s := testkit.Call(Create(dir, Info{})).Must(t)
	bytesOf := func(n, size int) []byte {
		b := make([]byte, size)
		rand.NewChaCha8([32]byte{byte(n), byte(n >> 8)}).Read(b)
		return b
	}
	const pages = 60
	for session := range 3 {
		if session > 0 {
			s = testkit.Call(Open(dir)).Must(t)
		}
		check := func(there int) {
			t.Helper()
			b := s.Batch()
			defer b.Cancel()
			for n := range 3 * pages {
				number := testkit.Call(b.PageWith(bytesOf(n, 16))).Must(t)
				near := testkit.Call(s.Candidates(bytesOf(n, 128))).Must(t)
				if want := n < there; (number == uint64(n+1)) != want || (len(near) == 1) != want {
					t.Fatalf("session %d: page %d is %d by content, %v by bands; it is there: %v", session, n+1, number, near, want)
				}
			}
		}
		check(pages * session)
		s.FilterSeen()
		check(pages * session)
		for n := pages * session; n < pages*(session+1); n++ {
			alter(t, s, func(b *Batch) {
				p := somePage()
				p.Number, p.Checksum, p.Signature = uint64(n+1), bytesOf(n, 16), bytesOf(n, 128)
				testkit.Must(t, b.PutPage(p, nil))
				if number, err := b.PageWith(p.Checksum); err != nil || number != p.Number {
					t.Fatalf("a batch does not see its own page: %d, %v", number, err)
				}
			})
		}
		check(pages * (session + 1))
		for !s.pageFilter.ready.Load() { // before that, nothing would be asked of it
			runtime.Gosched()
		}
		check(pages * (session + 1))
		testkit.Must(t, s.Close())
	}
}

// TestSeenLatelyIsTrue compares with a map, through cancelled batches and unskipped URLs.
func TestSeenLatelyIsTrue(t *testing.T) {
	s := testkit.Call(Create(filepath.Join(t.TempDir(), "s"), Info{})).Must(t)
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
			got := testkit.Call(b.Lookup(url(n))).Must(t)
			if got != now {
				t.Fatalf("a batch says %v of URL %d, want %v", got, n, now)
			}
			switch {
			case now.ID == 0:
				now = Seen{ID: ID(n + 1), Skipped: rng.IntN(2) == 0}
				testkit.Must(t, b.PutSeen(url(n), now.ID, now.Skipped))
			case now.Skipped:
				now.Skipped = false
				testkit.Must(t, b.Unskip(url(n), now.ID))
			}
			batch[n] = now
		}
		if rng.IntN(3) == 0 {
			b.Cancel()
		} else {
			testkit.Must(t, b.Commit())
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
