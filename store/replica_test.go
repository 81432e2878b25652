package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"fossick/internal/testkit"
)

func recordsOf(t *testing.T, s *Store, bodies bool) string {
	t.Helper()
	var b bytes.Buffer
	testkit.Call(OutboxOf(s).WriteBase(t.Context(), &b, bodies)).Must(t)
	return b.String()
}

func crawlABit(t *testing.T, s *Store, rng *rand.Rand, counts *Counts, bodies bool) {
	t.Helper()
	b := s.Batch()
	b.Replicate(bodies)
	for range 1 + rng.IntN(20) {
		switch id := ID(1 + rng.Uint64N(counts.URLs+1)); {
		case id > ID(counts.URLs):
			counts.URLs++
			url := fmt.Sprintf("http://h%d.test/%d", id%7, id)
			testkit.Must(t, b.PutDiscovery(id, Discovery{URL: url, Via: ViaLink}), b.PutSeen(HashURL(url), id, false), b.PutQueued(id, Queued{Priority: rng.Float64()}))
		case rng.IntN(3) == 0:
			testkit.Must(t, b.PutOutcome(id, Outcome{State: "code", At: rng.Int64()}), b.PutVisit(id, 1, Visit{Start: 5}))
		case rng.IntN(3) == 0:
			testkit.Must(t, OutboxIn(b).Put(uint16(rng.IntN(4)), counts, bytes.Repeat([]byte{7}, rng.IntN(1000))))
		case rng.IntN(3) == 0:
			testkit.Call(OutboxIn(b).Drop(uint16(rng.IntN(4)), rng.Uint64N(counts.Parcels+1))).Must(t)
		default:
			testkit.Must(t, b.PutHost(&Host{Name: fmt.Sprintf("h%d.test:80", rng.IntN(7)), Requests: rng.Uint64()}))
		}
	}
	counts.Parcels++
	testkit.Must(t, b.PutCounts(counts), OutboxIn(b).PutChanges(counts.Parcels), b.Commit())
}

// TestReplica follows a store through repetitions, gaps and changes during the writing of a base.
func TestReplica(t *testing.T) {
	for _, bodies := range []bool{false, true} {
		s, counts := create(t), Counts{}
		rng := rand.New(rand.NewPCG(7, 20))
		for range 50 {
			crawlABit(t, s, rng, &counts, bodies)
		}
		var base bytes.Buffer
		number, err := OutboxOf(s).WriteBase(t.Context(), &base, bodies)
		if err != nil || number != counts.Parcels {
			t.Fatal(number, err)
		}
		for range 50 {
			crawlABit(t, s, rng, &counts, bodies)
		}
		other, err := Create(filepath.Join(t.TempDir(), "replica"), Info{})
		if err != nil {
			t.Fatal(err)
		}
		r := ReplicaIn(other)
		if n, err := r.Apply(0, []Parcel{{Number: 1, Data: []byte{0}}}); n != 0 || err != nil {
			t.Errorf("without a base: %d, %v", n, err)
		}
		testkit.Must(t, r.Base(&base, number, bodies))
		var all []Parcel
		for p := range testkit.All(t, OutboxOf(s).Parcels(KeeperPart, number)) {
			all = append(all, p)
		}
		for taken := number; taken < counts.Parcels; {
			from := rng.IntN(len(all))
			to := from + 1 + rng.IntN(len(all)-from)
			after := number
			if from > 0 {
				after = all[from-1].Number
			}
			got := testkit.Call(r.Apply(after, all[from:to])).Must(t)
			want := taken
			if after <= taken {
				want = max(taken, all[to-1].Number)
			}
			if got != want {
				t.Fatalf("from %d to %d after %d: %d taken, want %d", from, to, taken, got, want)
			}
			taken = got
		}
		if a, b := recordsOf(t, s, bodies), recordsOf(t, other, bodies); a != b {
			t.Errorf("bodies %v: the replica differs: %d and %d bytes", bodies, len(a), len(b))
		}
		if n, err := other.Counts(); err != nil || n.URLs != counts.URLs || n.Parcels != counts.Parcels {
			t.Errorf("%+v, %v, want %+v", n, err, counts)
		}
		testkit.Must(t, other.Close())
	}
}

func FuzzReplica(f *testing.F) {
	c := changes{bodies: true}
	c.set(numKey(keyQueued, 5), []byte{0xa0})
	c.delete(numKey(keyQueued, 5))
	f.Add(append(c.data, 0))
	f.Add([]byte{1, 5, keyCount})
	f.Add([]byte{9, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		err := readChanges(bytes.NewReader(data), func(k, v []byte) error {
			if len(k) == 0 || !ourKey(k) {
				t.Errorf("%q", k)
			}
			return nil
		})
		if err != nil && !errors.Is(err, ErrCutOff) && !errors.Is(err, ErrDamaged) {
			t.Error(err)
		}
	})
}

func dump(t *testing.T, s *Store) map[string]string {
	records := map[string]string{}
	testkit.Must(t, s.records.view(func(txn *badger.Txn) error {
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
	testkit.Must(t, s.Snapshot(t.Context(), &b))
	return b.Bytes()
}

func TestSnapshot(t *testing.T) {
	s := crawled(t)
	copied := testkit.Call(Receive("crawl", bytes.NewReader(snapshotOf(t, s)))).Must(t)
	equal(t, "records", dump(t, copied), dump(t, s))
	equal(t, "folder", copied.Dir(), "crawl")
	equal(t, "info", copied.Info(), s.Info())
	if problems, err := copied.Verify(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	if !copied.Temporary() || s.Temporary() {
		t.Errorf("temporary: %v and %v, want the copy alone", copied.Temporary(), s.Temporary())
	}
	testkit.Must(t, copied.Close())
	if _, err := os.Stat(copied.dir); !os.IsNotExist(err) {
		t.Errorf("its folder: %v", err)
	}
}

// TestSnapshotIsOfOneMoment copies a store during writes. Each copy equals one state of the store,
// with all that was committed before it began.
func TestSnapshotIsOfOneMoment(t *testing.T) {
	s := create(t)
	commit := func(n uint64) {
		alter(t, s, func(b *Batch) { testkit.Must(t, putExchange(s, b, n), b.PutCounts(&Counts{URLs: n, Pages: n})) })
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
		_, err := io.ReadFull(r, head) // the snapshot's moment is fixed now, and the reader pauses
		testkit.Must(t, err)
		for range 30 {
			last++
			commit(last)
		}
		copied, err := Receive("crawl", io.MultiReader(bytes.NewReader(head), r))
		testkit.Must(t, err, <-done)
		c, err := copied.Counts()
		testkit.Must(t, err)
		if c.Pages != began {
			t.Errorf("%d pages, want the %d of that moment", c.Pages, began)
		}
		for n := uint64(1); n <= c.Pages; n++ {
			checkExchange(t, copied, n)
		}
		if pages := all(t, copied.Pages()); uint64(len(pages)) != c.Pages {
			t.Errorf("%d pages, %d counted", len(pages), c.Pages)
		}
		testkit.Must(t, copied.Close())
	}
}

// TestSnapshotCutOff: a truncated or changed snapshot is refused and leaves no folder behind.
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
	left := testkit.Call(os.ReadDir(os.Getenv("TMPDIR"))).Must(t)
	for _, e := range left {
		if len(e.Name()) > 7 && e.Name()[:7] == "fossick" {
			t.Errorf("left behind: %s", e.Name())
		}
	}
}

// FuzzReceive: no stream causes a panic, and an accepted one is written back unchanged.
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
		testkit.Must(t, err)
		equal(t, "records", dump(t, again), dump(t, s))
		testkit.Must(t, again.Close())
	})
}
