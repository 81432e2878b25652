package store

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// childCompacts makes the child of childDir compact the store instead.
const childCompacts = "FOSSICK_TEST_STORE_COMPACTS"

func compactOnce(dir string, _ io.Writer) error {
	_, err := Compact(context.Background(), dir)
	return err
}

const (
	bulkyPages = 700
	bulkySize  = 200 << 10
)

// bulkyStore is a closed store whose bodies fill one value log and a half, all of them
// replaced once: those in the first log are dead.
func bulkyStore(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "s")
	s, err := Create(dir, Info{})
	must(t, err)
	for round := range 2 {
		for n := uint64(1); n <= bulkyPages; n++ {
			must(t, s.db.Update(func(txn *badger.Txn) error {
				return txn.Set(numKey(keyBody, n), s.Compress(bulkyBody(n, round)))
			}))
		}
	}
	must(t, s.Close())
	return dir
}

func bulkyBody(n uint64, round int) []byte {
	var seed [32]byte
	seed[0], seed[1], seed[2] = byte(n), byte(n>>8), byte(round)
	body := make([]byte, bulkySize)
	_, _ = rand.NewChaCha8(seed).Read(body) // it never fails
	return body
}

func checkBulky(t *testing.T, dir string) {
	t.Helper()
	s, err := Open(dir)
	must(t, err)
	defer s.Close()
	for n := uint64(1); n <= bulkyPages; n++ {
		if body, err := s.Body(n); err != nil || string(body) != string(bulkyBody(n, 1)) {
			t.Fatalf("body %d: %d bytes, %v; want what replaced the first", n, len(body), err)
		}
	}
}

// TestCompact: what was replaced is on disk until Compact, and no more after it.
func TestCompact(t *testing.T) {
	if testing.Short() {
		t.Skip("writes some 400 MB")
	}
	dir := bulkyStore(t)
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Compact(stopped, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
	c, err := Compact(t.Context(), dir)
	must(t, err)
	const need = bulkyPages * bulkySize
	if c.Before < 2*need || c.After > need*5/4 {
		t.Errorf("%d bytes before and %d after, want at least %d and at most %d", c.Before, c.After, 2*need, need*5/4)
	}
	checkBulky(t, dir)
	again, err := Compact(t.Context(), dir)
	must(t, err)
	if again.After > c.After+c.After/20 {
		t.Errorf("%d bytes after it was done again, %d before", again.After, c.After)
	}
	if _, err := Compact(t.Context(), t.TempDir()); !errors.Is(err, ErrNone) {
		t.Errorf("of a folder without a store: %v", err)
	}
	s, err := Open(dir)
	must(t, err)
	defer s.Close()
	if _, err := Compact(t.Context(), dir); !errors.Is(err, ErrBusy) {
		t.Errorf("of a store in use: %v", err)
	}
}

// TestKillCompact kills a compaction at random moments: no body is lost.
func TestKillCompact(t *testing.T) {
	if testing.Short() {
		t.Skip("kills many processes")
	}
	dir := bulkyStore(t)
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	killed := 0
	for i := range 6 {
		if workInChild(t, dir, childCompacts, time.Duration(1+r.Int64N(int64(time.Second)))) == 0 {
			killed++
		}
		if i%2 == 1 {
			checkBulky(t, dir)
		}
	}
	t.Logf("%d of 6 were killed before their end", killed)
	_ = os.RemoveAll(dir)
}
