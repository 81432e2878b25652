package store

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// compressed packs a body, holds it to what unpacking gives, and returns it packed.
func compressed(t *testing.T, s *Store, body []byte) []byte {
	t.Helper()
	packed := s.Compress(body)
	if got, err := s.dec.DecodeAll(packed, nil); err != nil || !bytes.Equal(got, body) {
		t.Fatalf("a body of %d bytes, packed in %d: %v, or other bytes", len(body), len(packed), err)
	}
	if len(body) == 0 {
		return packed
	}
	var h zstd.Header // short of 256 bytes a frame need not say its length
	if err := h.Decode(packed); err != nil || !h.HasFCS || h.FrameContentSize != uint64(len(body)) || !h.HasCheckSum {
		t.Fatalf("a body of %d bytes: header %+v, %v; want its length and that there is a checksum", len(body), h, err)
	}
	return packed
}

// TestCompress: what is packed is had back, of all lengths about the border between the
// two ways, whether it can be compressed or not.
func TestCompress(t *testing.T) {
	s := create(t)
	rng := rand.New(rand.NewPCG(13, 14))
	text := strings.Repeat("<p>The bank lends <a href=\"/money\">money</a> to whom it knows.</p>\n", 4000)
	noise := make([]byte, 200<<10)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	for _, n := range []int{0, 1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 255, 256, 257, 1000, 4096, 20000,
		quickBytes - 1, quickBytes, quickBytes + 1, 150 << 10} {
		packed := compressed(t, s, []byte(text[:n]))
		if n >= 1000 && len(packed) > n/4 {
			t.Errorf("%d bytes of text take %d", n, len(packed))
		}
		if packed = compressed(t, s, noise[:n]); len(packed) > n+40 {
			t.Errorf("%d bytes of noise take %d", n, len(packed))
		}
		compressed(t, s, slices.Concat([]byte(text[:n/2]), noise[:n/2]))
		compressed(t, s, bytes.Repeat([]byte("x"), n))
	}
}

// TestCompressNoticesDamage: a packed body that was changed anywhere is not taken for
// another one.
func TestCompressNoticesDamage(t *testing.T) {
	s := create(t)
	body := []byte(strings.Repeat("A page of words that come twice or thrice; ", 3) + "and of others: 3.14159 2.71828 1.41421")
	packed := s.Compress(body)
	for i := range packed {
		for bit := range 8 {
			damaged := slices.Clone(packed)
			damaged[i] ^= 1 << bit
			if got, err := s.dec.DecodeAll(damaged, nil); err == nil && !bytes.Equal(got, body) {
				t.Errorf("bit %d of byte %d of %d: no error for another body", bit, i, len(packed))
			}
		}
	}
}

func FuzzCompress(f *testing.F) {
	f.Add([]byte("<html><body>A page</body></html>"))
	f.Add(bytes.Repeat([]byte("abcdefgh"), 10000))
	s := create(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		compressed(t, s, body)
	})
}
