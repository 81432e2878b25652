package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/dgraph-io/badger/v4"
)

// dump returns all records.
func dump(t *testing.T, s *Store) map[string]string {
	records := map[string]string{}
	must(t, s.records.view(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.DefaultIteratorOptions)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			v, err := it.Item().ValueCopy(nil)
			if err != nil {
				return err
			}
			records[string(it.Item().Key())] = string(v)
		}
		return nil
	}))
	return records
}

func snapshotOf(t *testing.T, s *Store) []byte {
	var b bytes.Buffer
	must(t, s.Snapshot(t.Context(), &b))
	return b.Bytes()
}

// TestSnapshot: a copy has every record, is sound, and goes with its folder.
func TestSnapshot(t *testing.T) {
	s := crawled(t)
	copied, err := Receive("crawl", bytes.NewReader(snapshotOf(t, s)))
	must(t, err)
	equal(t, "records", dump(t, copied), dump(t, s))
	equal(t, "folder", copied.Dir(), "crawl")
	equal(t, "info", copied.Info(), s.Info())
	if problems, err := copied.Verify(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	if !copied.Temporary() || s.Temporary() {
		t.Errorf("temporary: %v and %v, want the copy alone", copied.Temporary(), s.Temporary())
	}
	must(t, copied.Close())
	if _, err := os.Stat(copied.dir); !os.IsNotExist(err) {
		t.Errorf("its folder: %v", err)
	}
}

// TestSnapshotIsOfOneMoment copies a store while it is written to. Each copy is
// one of the states that it was in, and all that was committed before it began
// is in it.
func TestSnapshotIsOfOneMoment(t *testing.T) {
	s := create(t)
	commit := func(n uint64) {
		alter(t, s, func(b *Batch) { must(t, putExchange(s, b, n), b.PutCounts(&Counts{URLs: n, Pages: n})) })
	}
	last := uint64(20)
	for n := uint64(1); n <= last; n++ {
		commit(n)
	}
	for range 5 {
		began := last
		r, w := io.Pipe()
		done := make(chan error, 1)
		go func() {
			err := s.Snapshot(context.Background(), w)
			done <- errors.Join(err, w.CloseWithError(err))
		}()
		head := make([]byte, len(snapshotHead))
		_, err := io.ReadFull(r, head) // the moment has come: the reader takes no more for now
		must(t, err)
		for range 30 {
			last++
			commit(last)
		}
		copied, err := Receive("crawl", io.MultiReader(bytes.NewReader(head), r))
		must(t, err, <-done)
		c, err := copied.Counts()
		must(t, err)
		if c.Pages != began {
			t.Errorf("%d pages, want the %d of that moment", c.Pages, began)
		}
		for n := uint64(1); n <= c.Pages; n++ {
			checkExchange(t, copied, n)
		}
		if pages := all(t, copied.Pages()); uint64(len(pages)) != c.Pages {
			t.Errorf("%d pages, %d counted", len(pages), c.Pages)
		}
		must(t, copied.Close())
	}
}

// TestSnapshotCutOff: of a snapshot that is cut off anywhere, or changed, nothing is
// taken for a store, and no folder stays behind.
func TestSnapshotCutOff(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	whole := snapshotOf(t, crawled(t))
	rng := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{0, 3, len(snapshotHead), len(whole) - 1, len(whole) - 2, rng.IntN(len(whole)), rng.IntN(len(whole))} {
		if _, err := Receive("crawl", bytes.NewReader(whole[:n])); !errors.Is(err, ErrCutOff) {
			t.Errorf("%d bytes of %d: %v, want ErrCutOff", n, len(whole), err)
		}
	}
	if _, err := Receive("crawl", bytes.NewReader(append([]byte(snapshotHead), 0xff, 0xff, 0xff, 0xff, 0x7f, 1))); !errors.Is(err, ErrDamaged) {
		t.Errorf("a key of gigabytes: %v, want ErrDamaged", err)
	}
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	must(t, err)
	for _, e := range left {
		if len(e.Name()) > 7 && e.Name()[:7] == "fossick" {
			t.Errorf("left behind: %s", e.Name())
		}
	}
}

// TestSnapshotOfAReaderThatGoes: it ends, and the store goes on.
func TestSnapshotOfAReaderThatGoes(t *testing.T) {
	s := crawled(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Snapshot(ctx, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("of a context that has ended: %v", err)
	}
	r, w := io.Pipe()
	must(t, r.Close())
	if err := s.Snapshot(t.Context(), w); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("of a reader that is gone: %v", err)
	}
	alter(t, s, func(b *Batch) { must(t, b.PutHost(&Host{Name: "after:80"})) })
}

// FuzzReceive: no stream makes it panic, and what is taken is written again as it was.
func FuzzReceive(f *testing.F) {
	f.Add([]byte(snapshotHead))
	f.Add(fmt.Appendf(nil, "%s\x01\x02iab\x00\x01", snapshotHead))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Receive("crawl", bytes.NewReader(text))
		if err != nil {
			return
		}
		defer s.Close()
		again, err := Receive("crawl", bytes.NewReader(snapshotOf(t, s)))
		must(t, err)
		equal(t, "records", dump(t, again), dump(t, s))
		must(t, again.Close())
	})
}
