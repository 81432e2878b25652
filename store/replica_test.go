package store

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
)

// recordsOf is all that a replica without bodies, or with them, must have of a store.
func recordsOf(t *testing.T, s *Store, bodies bool) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := OutboxOf(s).WriteBase(t.Context(), &b, bodies); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// crawlABit makes some changes in one commit, as a crawl does.
func crawlABit(t *testing.T, s *Store, rng *rand.Rand, counts *Counts, bodies bool) {
	t.Helper()
	b := s.Batch()
	b.Replicate(bodies)
	for range 1 + rng.IntN(20) {
		switch id := ID(1 + rng.Uint64N(counts.URLs+1)); {
		case id > ID(counts.URLs):
			counts.URLs++
			url := fmt.Sprintf("http://h%d.test/%d", id%7, id)
			must(t, b.PutBirth(id, Birth{URL: url, Via: ViaLink}), b.PutSeen(HashURL(url), id, false), b.PutQueued(id, Queued{Priority: rng.Float64()}))
		case rng.IntN(3) == 0:
			must(t, b.PutFate(id, Fate{State: "code", At: rng.Int64()}), b.PutVisit(id, 1, Visit{Start: 5}))
		case rng.IntN(3) == 0:
			must(t, OutboxIn(b).Put(uint16(rng.IntN(4)), counts, bytes.Repeat([]byte{7}, rng.IntN(1000))))
		case rng.IntN(3) == 0:
			if _, err := OutboxIn(b).Drop(uint16(rng.IntN(4)), rng.Uint64N(counts.Parcels+1)); err != nil {
				t.Fatal(err)
			}
		default:
			must(t, b.PutHost(&Host{Name: fmt.Sprintf("h%d.test:80", rng.IntN(7)), Requests: rng.Uint64()}))
		}
	}
	counts.Parcels++
	must(t, b.PutCounts(counts), OutboxIn(b).PutChanges(counts.Parcels), b.Commit())
}

// TestReplica follows a store whose changes come twice, with gaps, and beside a base that is
// being written: in the end both have the same.
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
		must(t, r.Base(&base, number, bodies))
		var all []Parcel
		for p, err := range OutboxOf(s).Parcels(KeeperPart, number) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, p)
		}
		for taken := number; taken < counts.Parcels; {
			from := rng.IntN(len(all))
			to := from + 1 + rng.IntN(len(all)-from)
			after := number
			if from > 0 {
				after = all[from-1].Number
			}
			got, err := r.Apply(after, all[from:to])
			if err != nil {
				t.Fatal(err)
			}
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
		must(t, other.Close())
	}
}

// FuzzReplica: whatever another machine sends, it is taken or refused.
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
