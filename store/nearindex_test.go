package store

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestNearIndexIsTheStores enters random signatures, many alike, in the index in
// memory and in a store's: both must name the same pages in the same order.
func TestNearIndexIsTheStores(t *testing.T) {
	s, err := Create(t.TempDir()+"/store", Info{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	rng := rand.New(rand.NewPCG(1, 1))
	var index NearIndex
	signature := func() []byte {
		b := make([]byte, nearBands*nearRows)
		for band := range nearBands {
			b[band*nearRows] = byte(rng.IntN(4)) // few values: bands are shared
		}
		return b
	}
	for n := uint64(1); n <= 200; n++ {
		b := s.Batch()
		sig := signature()
		if err := b.addNear(n, sig); err != nil {
			t.Fatal(err)
		}
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
		index.Add(n, sig)
		asked := signature()
		txn := s.db.NewTransaction(false)
		want, err := sharing(txn, s.pageFilter, asked)
		txn.Discard()
		if err != nil {
			t.Fatal(err)
		}
		if got := index.Sharing(asked); !slices.Equal(got, want) {
			t.Fatalf("after %d pages the index in memory names %v, the store's %v", n, got, want)
		}
	}
}
