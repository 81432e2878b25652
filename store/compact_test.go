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

	"fossick/internal/fulltest"
)

// childCompacts makes the child of childDir compact the store instead.
const childCompacts = "FOSSICK_TEST_STORE_COMPACTS"

func compactOnce(dir string, _ io.Writer) error {
	_, err := Compact(context.Background(), dir)
	return err
}

const bulkySize = 200 << 10

// bulkyPages fill a value log and a half in two rounds; where all is asked for, more.
var bulkyPages = uint64(fulltest.Rounds(480, 700))

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
	fulltest.Only(t, "seconds of processor time")
	dir := bulkyStore(t)
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Compact(stopped, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
	c, err := Compact(t.Context(), dir)
	must(t, err)
	need := int64(bulkyPages * bulkySize)
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

// TestKillCompact kills compactions at random moments of the time that one takes: no
// body is lost, and it can be done again.
func TestKillCompact(t *testing.T) {
	fulltest.Only(t, "writes gigabytes")
	took := workInChild(t, bulkyStore(t), childCompacts, 0)
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	killed := 0
	for tries := 0; killed < 3 && tries < 12; tries++ {
		dir := bulkyStore(t)
		if workInChild(t, dir, childCompacts, 1+time.Duration(r.Int64N(int64(took)))) == 0 {
			killed++
		}
		checkBulky(t, dir)
		_, err := Compact(t.Context(), dir)
		must(t, err)
		checkBulky(t, dir)
		must(t, os.RemoveAll(dir))
	}
	if killed == 0 {
		t.Errorf("none was killed before its end, which comes after %v", took)
	}
}
