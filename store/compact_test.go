package store

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
	badgeroptions "github.com/dgraph-io/badger/v4/options"
	"github.com/klauspost/compress/zstd"

	"fossick/internal/testkit"
)

const childCompacts = "FOSSICK_TEST_STORE_COMPACTS"

func compactOnce(dir string, _ io.Writer) error {
	_, err := Compact(context.Background(), dir)
	return err
}

const bulkySize = 200 << 10

// bulkyPages fills a value log and a half; more with FOSSICK_FULL.
func bulkyPages() uint64 { return uint64(testkit.Rounds(480, 700)) }

// bulkyStore makes a closed store whose bodies fill one and a half value logs. All were replaced
// once, so those in the first log are dead.
func bulkyStore(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "s")
	s := testkit.Call(Create(dir, Info{})).Must(t)
	for round := range 2 {
		for n := uint64(1); n <= bulkyPages(); n++ {
			testkit.Must(t, s.db.Update(func(txn *badger.Txn) error {
				return txn.Set(numKey(keyBody, n), s.Compress(bulkyBody(n, round)))
			}))
		}
	}
	testkit.Must(t, s.Close())
	return dir
}

func bulkyBody(n uint64, round int) []byte {
	var seed [32]byte
	seed[0], seed[1], seed[2] = byte(n), byte(n>>8), byte(round)
	body := make([]byte, bulkySize)
	_, _ = rand.NewChaCha8(seed).Read(body)
	return body
}

func checkBulky(t *testing.T, dir string) {
	t.Helper()
	s := testkit.Call(Open(dir)).Must(t)
	defer s.Close()
	for n := uint64(1); n <= bulkyPages(); n++ {
		if body, err := s.Body(n); err != nil || string(body) != string(bulkyBody(n, 1)) {
			t.Fatalf("body %d: %d bytes, %v; want what replaced the first", n, len(body), err)
		}
	}
}

func TestCompact(t *testing.T) {
	testkit.Only(t, "seconds of processor time")
	dir := bulkyStore(t)
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Compact(stopped, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
	c := testkit.Call(Compact(t.Context(), dir)).Must(t)
	need := int64(bulkyPages() * bulkySize)
	if c.Before < 2*need || c.After > need*5/4 {
		t.Errorf("%d bytes before and %d after, want at least %d and at most %d", c.Before, c.After, 2*need, need*5/4)
	}
	checkBulky(t, dir)
	again := testkit.Call(Compact(t.Context(), dir)).Must(t)
	if again.After > c.After+c.After/20 {
		t.Errorf("%d bytes after it was done again, %d before", again.After, c.After)
	}
	if _, err := Compact(t.Context(), t.TempDir()); !errors.Is(err, ErrNone) {
		t.Errorf("of a folder without a store: %v", err)
	}
	s := testkit.Call(Open(dir)).Must(t)
	defer s.Close()
	if _, err := Compact(t.Context(), dir); !errors.Is(err, ErrBusy) {
		t.Errorf("of a store in use: %v", err)
	}
}

// TestKillCompact kills compactions at random moments; no body may be lost.
func TestKillCompact(t *testing.T) {
	testkit.Only(t, "writes gigabytes")
	took := workInChild(t, bulkyStore(t), childCompacts, 0)
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	killed := 0
	for tries := 0; killed < 3 && tries < 12; tries++ {
		dir := bulkyStore(t)
		if workInChild(t, dir, childCompacts, 1+time.Duration(r.Int64N(int64(took)))) == 0 {
			killed++
		}
		checkBulky(t, dir)
		testkit.Call(Compact(t.Context(), dir)).Must(t)
		checkBulky(t, dir)
		testkit.Must(t, os.RemoveAll(dir))
	}
	if killed == 0 {
		t.Errorf("none was killed before its end, which comes after %v", took)
	}
}

// compressed packs a body and checks that it unpacks to the same bytes.
func compressed(t *testing.T, s *Store, body []byte) []byte {
	t.Helper()
	packed := s.Compress(body)
	if got, err := s.codec.dec.DecodeAll(packed, nil); err != nil || !bytes.Equal(got, body) {
		t.Fatalf("a body of %d bytes, packed in %d: %v, or other bytes", len(body), len(packed), err)
	}
	if len(body) == 0 {
		return packed
	}
	var h zstd.Header
	if err := h.Decode(packed); err != nil || !h.HasFCS || h.FrameContentSize != uint64(len(body)) || !h.HasCheckSum {
		t.Fatalf("a body of %d bytes: header %+v, %v; want its length and that there is a checksum", len(body), h, err)
	}
	return packed
}

// TestCompress packs bodies of all lengths around the window's size, compressible or not.
func TestCompress(t *testing.T) {
	s := create(t)
	rng := rand.New(rand.NewPCG(13, 14))
	text := strings.Repeat("<p>The bank lends <a href=\"/money\">money</a> to whom it knows.</p>\n", 4000)
	noise := make([]byte, 200<<10)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	for _, n := range []int{0, 1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 255, 256, 257, 1000, 4096, 20000,
		64<<10 - 1, 64 << 10, 64<<10 + 1, 150 << 10} {
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

func TestCompressNoticesDamage(t *testing.T) {
	s := create(t)
	body := []byte(strings.Repeat("A page of words that come twice or thrice; ", 3) + "and of others: 3.14159 2.71828 1.41421")
	packed := s.Compress(body)
	for i := range packed {
		for bit := range 8 {
			damaged := slices.Clone(packed)
			damaged[i] ^= 1 << bit
			if got, err := s.codec.dec.DecodeAll(damaged, nil); err == nil && !bytes.Equal(got, body) {
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

// TestCompressedTables reads tables from the time when tables were compressed.
func TestCompressedTables(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	s := testkit.Call(Create(dir, Info{})).Must(t)
	testkit.Must(t, s.Close())
	db := testkit.Call(badger.Open(options(filepath.Join(dir, database)).WithCompression(badgeroptions.Snappy).WithBlockCacheSize(1 << 20))).Must(t)
	url := func(n int) Hash { return Hash{byte(n), byte(n >> 8), 1} }
	txn := db.NewTransaction(true)
	for n := range 5000 {
		h := url(n)
		testkit.Must(t, txn.Set(bytesKey(keySeen, h[:]), seenValue(ID(n+1), false)))
	}
	testkit.Must(t, txn.Commit())
	testkit.Must(t, db.Close())

	s = testkit.Call(Open(dir)).Must(t)
	defer s.Close()
	if tables := s.db.Tables(); len(tables) == 0 {
		t.Fatal("nothing is in a table")
	}
	for n := range 5000 {
		if seen, err := lookedUp(s, url(n)); err != nil || seen.ID != ID(n+1) {
			t.Fatalf("URL %d is %v (%v)", n, seen, err)
		}
	}
}
