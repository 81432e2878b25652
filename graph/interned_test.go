package graph

import (
	"bytes"
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestInterned compares with a map, for names that come again, empty and long ones.
func TestInterned(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	got := interned{seed: maphash.MakeSeed()}
	want := map[string]uint32{}
	for range 200_000 {
		name := strings.Repeat("x", rng.IntN(3)) + string(rune('a'+rng.IntN(26))) + strings.Repeat("yz", rng.IntN(300)*rng.IntN(2)*rng.IntN(2))
		if rng.IntN(1000) == 0 {
			name = strings.Repeat("long", rng.IntN(1<<14))
		}
		i, fresh := got.find([]byte(name))
		w, known := want[name]
		if !known {
			w = uint32(len(want))
			want[name] = w
		}
		if i != w || fresh == known || string(got.name(i)) != name || got.len() != len(want) {
			t.Fatalf("%.20q: got %d, %v; want %d, %v", name, i, fresh, w, !known)
		}
	}
	var apart interned
	if a, b := apart.add([]byte("a")), apart.add([]byte("a")); a != 0 || b != 1 || string(apart.name(1)) != "a" {
		t.Error(a, b)
	}
}

// TestSortKeys compares with a stable sort of whole keys: equal ones, beginnings of one
// another, zeros at their ends.
func TestSortKeys(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		keys := make([][]byte, rng.IntN(100))
		for i := range keys {
			for range rng.IntN(6) {
				keys[i] = append(keys[i], [][]byte{[]byte("org,a,www"), {0}, {0, 0, 0, 0, 0, 0, 0, 0}, {1}, {255}, []byte("12345678")}[rng.IntN(6)]...)
			}
		}
		want := make([]uint32, len(keys))
		for i := range want {
			want[i] = uint32(i)
		}
		slices.SortStableFunc(want, func(a, b uint32) int { return bytes.Compare(keys[a], keys[b]) })
		if got := sortKeys(keys); !slices.Equal(got, want) {
			t.Fatalf("seed %d: %q\n got %v\nwant %v", seed, keys, got, want)
		}
	}
}
