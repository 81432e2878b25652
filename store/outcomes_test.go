package store

import (
	"fmt"
	"path/filepath"
	"testing"
)

// TestOutcomes holds the walk against single look-ups, on a store in which few
// and many URLs between two that ended still wait.
func TestOutcomes(t *testing.T) {
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
	for e, err := range s.Outcomes() {
		if err != nil {
			t.Fatal(err)
		}
		birth, err := s.Birth(e.ID)
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
