package fileio

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"fossick/internal/testkit"
)

// numbers sorts numbers, encoded as gaps.
func numbers(dir string, limit int, unique bool) *Sorter[uint64] {
	return NewSorter(SortOptions[uint64]{
		Dir: dir, Limit: limit, Unique: unique,
		Compare: func(a, b uint64) int { return int(a) - int(b) },
		Append:  func(dst []byte, before, x uint64) []byte { return binary.AppendUvarint(dst, x-before) },
		Read: func(r *bufio.Reader, before uint64) (uint64, error) {
			gap, err := binary.ReadUvarint(r)
			return before + gap, err
		},
	})
}

// TestSorter compares with sorting in memory, for runs of all lengths.
func TestSorter(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		limit, unique := 1+rng.IntN(20), rng.IntN(2) == 0
		s := numbers(t.TempDir(), limit, unique)
		var want []uint64
		for range rng.IntN(100) {
			if x := rng.Uint64N(50); rng.IntN(10) > 0 {
				want = append(want, x)
				testkit.Must(t, s.Add(x))
			}
		}
		if rng.IntN(2) == 0 {
			some := []uint64{rng.Uint64N(50)}
			want = append(want, some...)
			testkit.Must(t, s.AddAll(some))
		}
		slices.Sort(want)
		repeated := int64(0)
		if unique {
			n := len(want)
			want = slices.Compact(want)
			repeated = int64(n - len(want))
		}
		var got []uint64
		err := s.Each(t.Context(), func(x uint64) error { got = append(got, x); return nil })
		if err != nil || !slices.Equal(got, want) || s.Repeated() != repeated {
			t.Fatalf("seed %d: got %v, %d repeated, %v; want %v, %d", seed, got, s.Repeated(), err, want, repeated)
		}
		got = nil
		err = s.Each(t.Context(), func(x uint64) error { got = append(got, x); return nil })
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("seed %d, once more: got %v, %v; want %v", seed, got, err, want)
		}
		testkit.Must(t, s.Close())
		if left, err := os.ReadDir(s.opt.Dir); err != nil || len(left) > 0 {
			t.Fatalf("%v is left, %v", left, err)
		}
	}
}

// TestEnds: errors of the callback, the context and a truncated run end sorting.
func TestEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	stop := errors.New("stop")
	for _, limit := range []int{3, 100} {
		s := numbers(t.TempDir(), limit, false)
		defer s.Close()
		for i := range uint64(10) {
			testkit.Must(t, s.Add(1000*i))
		}
		if err := s.Each(ctx, func(uint64) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("limit %d: %v", limit, err)
		}
		if err := s.Each(t.Context(), func(uint64) error { return stop }); !errors.Is(err, stop) {
			t.Errorf("limit %d: %v", limit, err)
		}
		if s.file == nil {
			continue
		}
		testkit.Must(t, s.file.Truncate(s.size-1))
		if err := s.Each(t.Context(), func(uint64) error { return nil }); err == nil {
			t.Error("a run that breaks off is read to its end")
		}
	}
}

func Example() {
	s := numbers("", 2, true)
	for _, x := range []uint64{5, 3, 9, 3, 7} {
		if err := s.Add(x); err != nil {
			fmt.Println(err)
		}
	}
	if err := s.Each(context.Background(), func(x uint64) error { fmt.Print(x, " "); return nil }); err != nil {
		fmt.Println(err)
	}
	if err := s.Close(); err != nil {
		fmt.Println(err)
	}
	// Output: 3 5 7 9
}
