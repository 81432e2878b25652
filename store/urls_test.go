package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
)

// TestEnded holds the walk against single look-ups, on a store in which few
// and many URLs between two that ended still wait.
func TestEnded(t *testing.T) {
	s, err := Create(filepath.Join(t.TempDir(), "s"), Info{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	want := map[ID]Fate{}
	b := s.Batch()
	for n := ID(1); n <= 400; n++ {
		if err := b.PutBirth(n, Birth{URL: fmt.Sprintf("http://h.example/%d", n), From: n / 2, Via: ViaLink}); err != nil {
			t.Fatal(err)
		}
		if n%7 != 0 && n < 300 && n > 20 {
			continue
		}
		f := Fate{State: []string{"ok", "code"}[n%2], Score: float64(n), Page: uint64(n % 2)}
		if err := b.PutFate(n, f); err != nil {
			t.Fatal(err)
		}
		want[n] = f
	}
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	last := ID(0)
	for e, err := range s.URLs().Ended("") {
		if err != nil {
			t.Fatal(err)
		}
		birth, err := s.URLs().Birth(e.ID)
		if err != nil || e.Birth != birth || e.Fate != want[e.ID] || e.ID <= last {
			t.Fatalf("after %d: got %+v (%v), want %+v of %+v", last, e, err, want[e.ID], birth)
		}
		last = e.ID
		delete(want, e.ID)
	}
	if len(want) > 0 {
		t.Errorf("%d outcomes are missing", len(want))
	}
}

// TestWalkNames asks for names in rising order, some of them twice and some of none.
func TestWalkNames(t *testing.T) {
	s, err := Create(filepath.Join(t.TempDir(), "s"), Info{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	b := s.Batch()
	for n := ID(2); n <= 300; n += 2 {
		if err := b.PutBirth(n, Birth{URL: fmt.Sprintf("http://h.example/%d", n), Via: ViaLink}); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err = s.URLs().Walk(func(name func(ID) (string, error)) error {
		for _, id := range []ID{1, 2, 2, 3, 4, 100, 100, 101, 298, 300, 301, 302} {
			url, err := name(id)
			if id%2 == 0 && id <= 300 {
				if want := fmt.Sprintf("http://h.example/%d", id); url != want || err != nil {
					t.Errorf("%d is %q, %v; want %s", id, url, err, want)
				}
			} else if !errors.Is(err, ErrUnknown) {
				t.Errorf("%d is %q, %v; want ErrUnknown", id, url, err)
			}
		}
		return broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("%v, want %v", err, broken)
	}
}

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
		for _, err := range s.URLs().Waiters() {
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
