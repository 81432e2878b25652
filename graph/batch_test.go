package graph

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"fossick/internal/fulltest"
)

// randomText is an edge list of several batches: lines of all lengths and ends, comments,
// sources that stand again, and perhaps a line that is none or too long.
func randomText(rng *rand.Rand) []byte {
	var text []byte
	name := func() string {
		s := fmt.Sprintf("http://h%d.test/%d", rng.IntN(40), rng.IntN(50))
		if rng.IntN(5000) == 0 {
			s += strings.Repeat("x", rng.IntN(maxNameBytes-100))
		}
		return s
	}
	src := name()
	for len(text) < 3*batchBytes {
		if rng.IntN(4) == 0 {
			src = name()
		}
		switch rng.IntN(2000) {
		case 0:
			text = append(text, '#')
			text = append(text, strings.Repeat("c", rng.IntN(2*batchBytes))...)
		case 1:
			src = src[:len(src)-1]
		case 2:
		default:
			text = append(append(append(text, src...), '\t'), name()...)
		}
		text = append(text, []string{"\n", "\n", "\r\n"}[rng.IntN(3)]...)
	}
	switch at := rng.IntN(len(text)); rng.IntN(6) {
	case 0:
		text = append(text[:at:at], append([]byte("\nnone\n"), text[at:]...)...)
	case 1:
		text = append(text[:at:at], append(bytes.Repeat([]byte("l"), maxLineBytes+1), text[at:]...)...)
	case 2:
		text = append(text[:at:at], append([]byte("\na\t"+strings.Repeat("n", maxNameBytes+1)+"\n"), text[at:]...)...)
	case 3:
		text = bytes.TrimRight(text, "\r\n")
	}
	return text
}

// lineByLine builds the graph as the first version did: one line after the other.
func lineByLine(ctx context.Context, b *Builder, text io.Reader) error {
	return scanLines(ctx, text, "list", func(line []byte) error {
		src, dst, ok := cutNames(line)
		if !ok {
			return fmt.Errorf("%w: %q; want two names with one tab between them", errLine, short(line))
		}
		return b.Edge(src, dst)
	})
}

// TestEdgeListByBatches compares with a list that is read line by line: the file bit for
// bit, what was counted, and the first error with its line.
func TestEdgeListByBatches(t *testing.T) {
	errs := 0
	lists := fulltest.Rounds(8, 25)
	for seed := range uint64(lists) {
		rng := rand.New(rand.NewPCG(seed, 9))
		text := randomText(rng)
		broken := len(text) + 1
		if rng.IntN(4) == 0 {
			broken = rng.IntN(len(text))
		}
		reader := func() io.Reader {
			r := io.Reader(bytes.NewReader(text))
			if broken <= len(text) {
				r = io.MultiReader(bytes.NewReader(text[:broken]), iotest.ErrReader(io.ErrUnexpectedEOF))
			}
			return r
		}
		memory := []int{0, 1 << 16, 1 << 20}[rng.IntN(3)]
		dir := t.TempDir()
		build := func(name string, add func(ctx context.Context, b *Builder, r io.Reader) error) (file []byte, stats Stats, err error) {
			b, err := NewBuilder(filepath.Join(dir, name), BuildOptions{Memory: memory})
			if err != nil {
				t.Fatal(err)
			}
			if err = add(t.Context(), b, reader()); err == nil {
				if stats, err = b.Finish(t.Context()); err == nil {
					file = fileOf(t, filepath.Join(dir, name))
				}
			}
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			return file, stats, err
		}
		got, gotStats, gotErr := build("batches", func(ctx context.Context, b *Builder, r io.Reader) error {
			return b.edgeList(ctx, r, "list")
		})
		want, wantStats, wantErr := build("lines", lineByLine)
		if wantErr != nil {
			errs++
		}
		// The errors of names say which graph they are of.
		if fmt.Sprint(gotErr) != strings.ReplaceAll(fmt.Sprint(wantErr), dir+"/lines", dir+"/batches") {
			t.Errorf("seed %d: %v, want %v", seed, gotErr, wantErr)
		}
		if gotStats != wantStats || !bytes.Equal(got, want) {
			t.Errorf("seed %d: %+v in %d bytes; want %+v in %d", seed, gotStats, len(got), wantStats, len(want))
		}
	}
	if 5*errs < lists || 5*errs > 4*lists {
		t.Errorf("%d lists of %d with errors", errs, lists)
	}
}

// TestEdgeListCancelled ends in the middle of a list that never ends.
func TestEdgeListCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b, err := NewBuilder(filepath.Join(t.TempDir(), "g"), BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	endless := readerFunc(func(p []byte) (int, error) {
		if n++; n == 20 {
			cancel()
		}
		return copy(p, "a\tb\n"), nil
	})
	if err := b.edgeList(ctx, endless, "list"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// alive collects what is no longer used, and gives the bytes that the collector found in
// use. What is asked for while one looks, and thrown away at once, isn't of them, as it
// would be in HeapAlloc.
func alive() uint64 {
	runtime.GC()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return live[0].Value.Uint64()
}

// TestBuildMemory builds from more names and edges than memory may hold, and looks all
// the while at what is alive.
func TestBuildMemory(t *testing.T) {
	const nodes, edges, memory, beside = 250_000, 500_000, 16 << 20, 8 << 20
	name := func(dst []byte, i int) []byte {
		return fmt.Appendf(dst, "https://www%d.example%d.org/archive/departments/reports/view.html?page=%d", i%7, i%5000, i)
	}
	rng := rand.New(rand.NewPCG(4, 4))
	written := 0
	var line []byte
	text := readerFunc(func(p []byte) (int, error) {
		if len(line) == 0 && written == edges {
			return 0, io.EOF
		}
		if len(line) == 0 {
			line = name(append(name(line[:0], written%nodes), '\t'), rng.IntN(nodes))
			line = append(line, '\n')
			written++
		}
		n := copy(p, line)
		line = line[n:]
		return n, nil
	})
	before := alive()
	done, most := make(chan struct{}), make(chan uint64)
	go func() {
		largest := uint64(0)
		for {
			largest = max(largest, alive())
			select {
			case <-done:
				most <- largest
				return
			case <-time.After(20 * time.Millisecond): // only how often it is looked at
			}
		}
	}()
	b, err := NewBuilder(filepath.Join(t.TempDir(), "g"), BuildOptions{Memory: memory})
	if err != nil {
		t.Fatal(err)
	}
	err = b.edgeList(t.Context(), text, "list")
	var stats Stats
	if err == nil {
		stats, err = b.Finish(t.Context())
	}
	runs := len(b.dict.runs)
	close(done)
	used := int64(<-most) - int64(before)
	if err := errors.Join(err, b.Close()); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d nodes, %d edges in %d runs: %.1f MiB alive", stats.Nodes, stats.Edges, runs, float64(used)/(1<<20))
	if used > memory+beside {
		t.Errorf("%d bytes were alive, of %d", used, memory)
	}
	if runs < 4 || stats.Nodes < nodes*9/10 {
		t.Errorf("%d runs, %d nodes: too few to tell", runs, stats.Nodes)
	}
}
