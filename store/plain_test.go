package store

import (
	"path/filepath"
	"testing"
)

// TestPlain: a store is made, written to, verified, repaired and compacted without what
// is known of Badger's files, and is the same with it.
func TestPlain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	t.Run("plain", func(t *testing.T) {
		t.Setenv("FOSSICK_STORE_PLAIN", "1")
		s, err := Create(dir, Info{Topic: "banking"})
		must(t, err)
		for n := uint64(1); n <= 20; n++ {
			alter(t, s, func(b *Batch) { must(t, putExchange(s, b, n), b.PutCounts(&Counts{URLs: n, Pages: n})) })
		}
		must(t, s.Close())
		_, err = mendTables(dir)
		must(t, err)
		_, err = Compact(t.Context(), dir)
		must(t, err)
		s, err = Open(dir)
		must(t, err)
		_, err = s.repair(t.Context()) // the exchanges of this test have gaps
		must(t, err, s.Close())
	})
	s, err := Open(dir)
	must(t, err)
	defer func() { must(t, s.Close()) }()
	if problems, err := s.Verify(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	for n := uint64(1); n <= 20; n++ {
		if body, err := s.Body(n); err != nil || string(body) != string(bodyOf(n)) {
			t.Errorf("page %d has another body (%v)", n, err)
		}
	}
}
