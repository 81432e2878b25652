package models

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/klauspost/compress/zstd"

	"fossick/internal/fulltest"
	"fossick/internal/tries"
)

// TestCostlyModels: a small file costs little memory, whatever it holds; a model as it is trained does
// not come near the limits.
func TestCostlyModels(t *testing.T) {
	empties := func(n int) []string { return make([]string, n) }
	maps := make([]map[string]int, 300_000)
	for i := range maps {
		maps[i] = map[string]int{}
	}
	type m map[string]any
	costly := tries.Of(t, "model files that would cost memory")
	for name, w := range map[string]any{
		"terms":       m{"terms": empties(2 << 20)},
		"zeros":       m{"idf": make([]byte, 20<<20)},
		"class pages": m{"class_pages": make([][]int32, 2<<20)},
		"members":     m{"vote": maps},
		"votes":       m{"vote": []m{{"model": m{"vote": maps}}}},
		"titles":      m{"titles": m{"a": make([][]int, 2<<20)}},
		"keywords":    m{"keywords": m{"a": empties(2 << 20)}},
		"classes":     m{"classes": numbered(100_000), "thresholds": make([]float64, 100_000)},
		"nested":      cbor.RawMessage(nested(1000)),
	} {
		raw, err := cbor.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		file := pack(t, raw)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = Read(bytes.NewReader(file))
		runtime.ReadMemStats(&after)
		told := errors.Is(err, ErrFormat) && strings.Contains(err.Error(), "again")
		cost, most := after.TotalAlloc-before.TotalAlloc, uint64(64<<20+100*len(file))
		costly.Try(told && cost <= most, "%s: %v, want ErrFormat and what to do; a file of %d bytes cost %d MiB, want %d at most", name, err, len(file), cost>>20, most>>20)
	}
	if err := (&Model{Classes: numbered(MaxClasses + 1)}).Check(); err == nil || !strings.Contains(err.Error(), "classes") {
		t.Errorf("%d classes: %v", MaxClasses+1, err)
	}
}

// TestChangedModels: a model whose payload was changed, behind sums that are right, is refused or
// scores pages; it neither panics nor costs more than its size.
func TestChangedModels(t *testing.T) {
	changed := tries.Of(t, "changed model files")
	rng := rand.New(rand.NewPCG(12, 15))
	for _, m := range []*Model{linearModel(), treeModel(), rulesModel(), networkModel(), voteModel()} {
		raw, err := payload(m)
		if err != nil {
			t.Fatal(err)
		}
		for range fulltest.Rounds(40, 2000) {
			bad := slices.Clone(raw)
			for range 1 + rng.IntN(4) {
				at := rng.IntN(len(bad))
				switch n := min(len(bad)-at, 1+rng.IntN(9)); rng.IntN(4) {
				case 0:
					bad[at] ^= 1 << rng.IntN(8)
				case 1:
					clear(bad[at : at+n])
				case 2: // the heads of CBOR's long arrays, maps and strings
					bad[at] = []byte{0x9a, 0x9b, 0xba, 0xbb, 0x7a, 0x5b, 0x9f, 0xbf}[rng.IntN(8)]
				case 3:
					bad = slices.Insert(bad, at, slices.Clone(bad[at:at+n])...)
				}
			}
			changed.Try(scored(pack(t, bad)), "a panic, or too much memory, by %x", bad)
		}
	}
}

// scored says whether a model file is refused or scores a page, for what its size allows.
func scored(file []byte) (held bool) {
	defer func() { held = recover() == nil && held }()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if m, err := Read(bytes.NewReader(file)); err == nil {
		scoreEmpty(m)
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc-before.TotalAlloc <= 64<<20+100*uint64(len(file))
}

// TestEndlessModel: no more is read than a model has, of a file without end, and nothing of a pipe.
func TestEndlessModel(t *testing.T) {
	file := pack(t, []byte{0xa0})
	large := binary.LittleEndian.AppendUint64(slices.Clone(file[:10]), 1<<20)
	for name, head := range map[string][]byte{"zeros": nil, "a model": file, "one that says it is large": large} {
		r := &endless{head: head, most: 3 << 20} // buffers ask for more than they need
		if _, err := Read(r); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, "/dev/zero"} {
		if _, err := ReadFile(path); err == nil {
			t.Errorf("%s is a model", path)
		}
	}
}

// endless gives zeros after head, and an error when more is read than may be.
type endless struct {
	head []byte
	most int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.most -= len(p); e.most < 0 {
		return 0, errors.New("too much is read")
	}
	n := copy(p, e.head)
	e.head = e.head[n:]
	clear(p[n:])
	return len(p), nil
}

// pack makes a model file of a payload.
func pack(t *testing.T, raw []byte) []byte {
	t.Helper()
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer enc.Close()
	packed := enc.EncodeAll(raw, nil)
	file := binary.LittleEndian.AppendUint16([]byte(magic), version)
	file = binary.LittleEndian.AppendUint64(file, uint64(len(packed)))
	file = append(binary.LittleEndian.AppendUint64(file, uint64(len(raw))), packed...)
	sum := sha256.Sum256(file)
	return append(file, sum[:]...)
}

func numbered(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("class %06d", i)
	}
	return names
}

func nested(n int) []byte {
	return append(bytes.Repeat([]byte{0x81}, n), 0x80)
}
