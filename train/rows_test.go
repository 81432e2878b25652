package train

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fossick/models/features"
)

func randomRow(rng *rand.Rand) features.Vector {
	var v features.Vector
	term := int32(rng.IntN(3))
	for range rng.IntN(40) {
		count := float32(1 + rng.IntN(5))
		switch rng.IntN(20) {
		case 0:
			count = rng.Float32() * 9 // as a weight that is no count would be
		case 1:
			count = 1 << 24
		}
		v.Index, v.Value = append(v.Index, term), append(v.Value, count)
		term += 1 + int32(rng.IntN(1000))
	}
	return v
}

// TestRowLog writes rows to memory alone, to memory and then a file, and to a
// file from the first on. What comes back must be the same, as often as it is
// asked.
func TestRowLog(t *testing.T) {
	for _, limit := range []int{1 << 30, 5000, 0} {
		dir := t.TempDir()
		l := &rowLog{dir: dir, limit: limit}
		rng := rand.New(rand.NewPCG(1, 2))
		var want []features.Vector
		for range 3 {
			for range 200 {
				v := randomRow(rng)
				want = append(want, v)
				if err := l.add(v); err != nil {
					t.Fatal(err)
				}
			}
			pages := 0
			err := l.each(context.Background(), func(page int, v features.Vector) error {
				if pages++; !slices.Equal(v.Index, want[page].Index) || !slices.Equal(v.Value, want[page].Value) {
					t.Fatalf("limit %d, page %d: %v, want %v", limit, page, v, want[page])
				}
				return nil
			})
			if err != nil || pages != len(want) {
				t.Fatalf("limit %d: %d pages, %v; want %d", limit, pages, err, len(want))
			}
		}
		if inFile := l.file != nil; inFile != (limit < 1<<30) {
			t.Errorf("limit %d: in a file: %v", limit, inFile)
		}
		if err := l.close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("limit %d: %v left behind, %v", limit, left, err)
		}
	}
}

func TestRowLogErrors(t *testing.T) {
	l := &rowLog{dir: filepath.Join(t.TempDir(), "nowhere")}
	err := l.add(features.Vector{Index: []int32{1}, Value: []float32{1}})
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("no folder for the file: %v", err)
	}
	l = &rowLog{dir: t.TempDir()}
	if err := l.add(features.Vector{Index: []int32{1, 5}, Value: []float32{1, 2}}); err != nil {
		t.Fatal(err)
	}
	defer l.close()
	if err := l.file.Truncate(2); err != nil {
		t.Fatal(err)
	}
	read := func() error {
		return l.each(context.Background(), func(int, features.Vector) error { return nil })
	}
	if err := read(); !errors.Is(err, errRow) {
		t.Errorf("a file that is cut short: %v, want %v", err, errRow)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := l.each(ctx, func(int, features.Vector) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("after an interruption: %v", err)
	}
}

// FuzzReadRow: what is read is what would be written; all else is an error.
func FuzzReadRow(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 5 {
		f.Add(appendRow(nil, randomRow(rng)))
	}
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 2})
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := readRow(features.Vector{}, b)
		if err != nil {
			return
		}
		again, err := readRow(features.Vector{}, appendRow(nil, v))
		if err != nil || !slices.Equal(again.Index, v.Index) || !slices.EqualFunc(again.Value, v.Value, func(a, b float32) bool {
			return a == b || math.IsNaN(float64(a)) && math.IsNaN(float64(b))
		}) {
			t.Fatalf("%v became %v, %v", v, again, err)
		}
	})
}

func BenchmarkRowLog(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	rows := make([]features.Vector, 500)
	l := &rowLog{limit: 1 << 30}
	for i := range rows {
		for t := int32(rng.IntN(100)); t < 30000; t += 1 + int32(rng.IntN(200)) {
			rows[i].Index, rows[i].Value = append(rows[i].Index, t), append(rows[i].Value, float32(1+rng.IntN(3)))
		}
		if err := l.add(rows[i]); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("add", func(b *testing.B) {
		b.ReportAllocs()
		var buf []byte
		for b.Loop() {
			buf = buf[:0]
			for _, v := range rows {
				buf = appendRow(buf, v)
			}
		}
		b.SetBytes(int64(len(l.tail)))
	})
	b.Run("each", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(l.tail)))
		for b.Loop() {
			if err := l.each(context.Background(), func(int, features.Vector) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
	})
}
