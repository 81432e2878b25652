package export

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"fossick/internal/testkit"
)

type linkRecord struct {
	source       uint32
	destinations []uint32
}

func writeLinks(t testing.TB, pages uint64, records []linkRecord) []byte {
	t.Helper()
	f := testkit.Call(os.Create(filepath.Join(t.TempDir(), "links.bin"))).Must(t)
	defer f.Close()
	w := testkit.Call(NewLinkWriter(f, pages)).Must(t)
	for _, r := range records {
		testkit.Must(t, w.Add(r.source, r.destinations))
	}
	testkit.Call(w.Close()).Must(t)
	b := testkit.Call(os.ReadFile(f.Name())).Must(t)
	return b
}

func read(b []byte) (h linkHeader, records []linkRecord, err error) {
	r, err := newLinkReader(bytes.NewReader(b))
	if err != nil {
		return h, nil, err
	}
	for {
		source, destinations, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r.head, records, nil
		}
		if err != nil {
			return r.head, records, err
		}
		records = append(records, linkRecord{source, slices.Clone(destinations)})
	}
}

func randomLinks(rng *rand.Rand, pages int) (records []linkRecord) {
	for source := range pages {
		var to []uint32
		for d := range pages {
			if d != source && rng.IntN(pages) < 4 {
				to = append(to, uint32(d))
			}
		}
		if len(to) > 0 {
			records = append(records, linkRecord{uint32(source), to})
		}
	}
	return records
}

func same(a, b []linkRecord) bool {
	return slices.EqualFunc(a, b, func(x, y linkRecord) bool {
		return x.source == y.source && slices.Equal(x.destinations, y.destinations)
	})
}

func TestRoundTrip(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		pages := rng.IntN(60)
		want, links := randomLinks(rng, pages), 0
		for _, r := range want {
			links += len(r.destinations)
		}
		h, got, err := read(writeLinks(t, uint64(pages), want))
		if err != nil || !same(got, want) || h.Pages != uint64(pages) || h.Records != uint64(len(want)) || h.Links != uint64(links) {
			t.Fatalf("seed %d: %+v, %v, %v; want %v", seed, h, got, err, want)
		}
	}
}

// TestBytes compares with bytes written by hand after docs/export.md.
func TestBytes(t *testing.T) {
	got := writeLinks(t, 1000, []linkRecord{{2, []uint32{1, 3, 500}}, {5, []uint32{6}}})
	body := []byte{2, 2, 1, 1, 0xf0, 0x03, 2, 0, 2} // 500 − 3 − 1 = 496 = 0x70 | 3 << 7
	if !bytes.Equal(got[linkHeaderBytes:], body) {
		t.Errorf("the body is % x, want % x", got[linkHeaderBytes:], body)
	}
	le := binary.LittleEndian
	if string(got[:8]) != "FSKLINKS" || le.Uint32(got[8:]) != 1 || le.Uint64(got[16:]) != 1000 || le.Uint64(got[24:]) != 2 || le.Uint64(got[32:]) != 4 || le.Uint64(got[40:]) != 9 {
		t.Errorf("the header is % x", got[:linkHeaderBytes])
	}
}

// TestLinksDamage flips each bit and truncates at each byte: reading must fail every time.
func TestLinksDamage(t *testing.T) {
	whole := writeLinks(t, 40, randomLinks(rand.New(rand.NewPCG(1, 2)), 40))
	for i := range whole {
		if _, _, err := read(whole[:i]); !errors.Is(err, errLinksDamaged) {
			t.Fatalf("cut at %d: %v", i, err)
		}
		for bit := range 8 {
			b := slices.Clone(whole)
			b[i] ^= 1 << bit
			if _, _, err := read(b); !errors.Is(err, errLinksDamaged) && !errors.Is(err, errLinksVersion) {
				t.Fatalf("byte %d, bit %d: %v", i, bit, err)
			}
		}
	}
	if _, _, err := read(append(whole, 0)); !errors.Is(err, errLinksDamaged) {
		t.Errorf("a byte more: %v", err)
	}
}

// TestAddRefuses: Add rejects what a reader would reject.
func TestAddRefuses(t *testing.T) {
	for _, bad := range [][]linkRecord{
		{{3, []uint32{3}}}, {{3, []uint32{5, 4}}}, {{3, []uint32{4, 4}}}, {{3, []uint32{10}}}, {{10, []uint32{1}}},
		{{3, []uint32{1}}, {3, []uint32{1}}}, {{3, []uint32{1}}, {2, []uint32{1}}},
	} {
		f, err := os.Create(filepath.Join(t.TempDir(), "links.bin"))
		if err != nil {
			t.Fatal(err)
		}
		w, err := NewLinkWriter(f, 10)
		for _, r := range bad {
			err = errors.Join(err, w.Add(r.source, r.destinations))
		}
		if err == nil {
			t.Errorf("%v was written", bad)
		}
		f.Close()
	}
	if _, err := NewLinkWriter(nil, 1<<32); err == nil {
		t.Error("ids of more than 32 bits")
	}
}

// FuzzReader: no panic, and valid files round-trip. The fuzzer corrects checksums.
func FuzzReader(f *testing.F) {
	f.Add(uint64(10), uint64(1), uint64(2), []byte{2, 1, 1, 0})
	f.Add(uint64(1000), uint64(2), uint64(4), []byte{2, 2, 1, 1, 0xf0, 0x03, 2, 0, 2})
	f.Add(uint64(maxPages), uint64(1), uint64(1), []byte{0xfe, 0xff, 0xff, 0xff, 0x0f, 0, 1})
	f.Fuzz(func(t *testing.T, pages, records, links uint64, body []byte) {
		w := &linkHeader{Pages: pages, Records: records, Links: links, bodyBytes: uint64(len(body)), bodySum: crc32.Checksum(body, castagnoli)}
		file := append(w.append(nil), body...)
		h, got, err := read(file)
		if err != nil {
			if !errors.Is(err, errLinksDamaged) {
				t.Fatal(err)
			}
			return
		}
		if again := writeLinks(t, h.Pages, got); !bytes.Equal(again, file) {
			t.Fatalf("% x was read as %v, and written as % x", file, got, again)
		}
	})
}
