package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/dgraph-io/badger/v4"
)

// Problem is something in a store that cannot be.
type Problem struct {
	Key    string `json:"key"`    // of the record, printable
	What   string `json:"what"`   // is wrong
	Repair string `json:"repair"` // what Repair does about it

	URL string `json:"url,omitempty"` // of the page that cannot be read
}

// Verify checks every record against those that it belongs with, and returns
// what is wrong, in the order of the passes. It changes nothing. The error is
// the store's or ctx's own, not a finding.
func (s *Store) Verify(ctx context.Context) ([]Problem, error) {
	return (&inspection{s: s, problems: slices.Clone(s.damaged)}).run(ctx)
}

// Repair mends what Verify finds, from what the other records tell, and returns
// it. No page that can be read is lost; a URL whose story cannot be told is
// queued again; what belongs to nothing is removed.
func (s *Store) Repair(ctx context.Context) ([]Problem, error) {
	return (&inspection{s: s, mend: true}).run(ctx)
}

// inspection is one run over a store. A pass sees what the passes before it
// mended.
type inspection struct {
	s        *Store
	mend     bool
	b        *Batch // of repairs, nil when there are none to write
	problems []Problem
	counts   Counts // as the records say
	holes    []uint64
	sitemaps bool // a host has read some
}

func (in *inspection) run(ctx context.Context) ([]Problem, error) {
	in.counts = Counts{States: map[string]uint64{}}
	for _, pass := range []func(context.Context) error{
		in.births, in.strays, in.seen, in.marks, in.pages, in.leftovers, in.ranks, in.near, in.hosts, in.exchanges, in.named, in.totals,
	} {
		if err := pass(ctx); err != nil {
			in.cancel()
			return in.problems, err
		}
		if err := in.flush(); err != nil {
			return in.problems, err
		}
	}
	return in.problems, nil
}

// births checks that each URL is in the seen-set and either waits or has a fate.
func (in *inspection) births(ctx context.Context) error {
	return in.scan(ctx, keyBirth, func(txn *badger.Txn, k, v []byte) error {
		id, birth, err := ID(0), Birth{}, error(nil)
		if n, keyErr := numOf(k); keyErr != nil {
			err = keyErr
		} else {
			id, err = ID(n), decode(k, v, &birth)
		}
		if err != nil {
			return in.found(k, err.Error(), "removed", func(b *Batch) error { return b.delete(k) })
		}
		in.counts.URLs = max(in.counts.URLs, uint64(id))
		skipped, err := in.story(txn, id, birth)
		if err != nil {
			return err
		}
		return in.seenIs(txn, id, birth.URL, skipped)
	})
}

// story checks that a URL waits or has a fate, and not both.
func (in *inspection) story(txn *badger.Txn, id ID, birth Birth) (skipped bool, err error) {
	var q Queued
	var f Fate
	qErr := get(txn, numKey(keyQueued, uint64(id)), &q)
	fErr := get(txn, numKey(keyFate, uint64(id)), &f)
	seen, err := lookup(txn, HashURL(birth.URL))
	if err != nil && !errors.Is(err, ErrDamaged) {
		return false, err
	}
	k := numKey(keyBirth, uint64(id))
	switch {
	case qErr == nil && errors.Is(fErr, ErrUnknown):
		return false, nil
	case fErr == nil && errors.Is(qErr, ErrUnknown):
		// What was left aside when it was found has no state of a visited URL, but
		// for a trap's, which is counted all the same.
		skipped = (f.State == "none" || f.State == "trap") && seen.Skipped
		if skipped && f.State == "none" {
			in.counts.Skipped++
		} else {
			in.counts.States[f.State]++
		}
		if f.Resemblance > 0 {
			in.counts.NearDuplicates++
		}
		return skipped, nil
	case fErr == nil && qErr == nil:
		in.counts.States[f.State]++
		if f.Resemblance > 0 {
			in.counts.NearDuplicates++
		}
		return false, in.found(k, birth.URL+" waits and has ended too", "it has ended", func(b *Batch) error {
			return b.delete(numKey(keyQueued, uint64(id)))
		})
	}
	return false, in.found(k, birth.URL+" neither waits nor has it ended", "queued again", func(b *Batch) error {
		if err := b.delete(numKey(keyFate, uint64(id))); err != nil {
			return err
		}
		return b.PutQueued(id, placeAgain(txn, id, birth))
	})
}

func (in *inspection) seenIs(txn *badger.Txn, id ID, url string, skipped bool) error {
	h := HashURL(url)
	seen, err := lookup(txn, h)
	if err != nil && !errors.Is(err, ErrDamaged) {
		return err
	}
	if err == nil && seen == (Seen{id, skipped}) {
		return nil
	}
	return in.found(bytesKey(keySeen, h[:]), fmt.Sprintf("the seen-set has %+v for %s, want URL %d", seen, url, id), "entered",
		func(b *Batch) error { return b.PutSeen(h, id, skipped) })
}

// strays looks for records of URLs that were never born.
func (in *inspection) strays(ctx context.Context) error {
	for _, kind := range []byte{keyQueued, keyFate, keyVisit} {
		err := in.scan(ctx, kind, func(txn *badger.Txn, k, v []byte) error {
			what := ""
			if len(k) < 9 {
				what = "the key is too short"
			} else if _, err := txn.Get(append([]byte{keyBirth}, k[1:9]...)); err != nil {
				what = "it belongs to no URL"
			} else if kind == keyVisit && decode(k, v, &Visit{}) != nil {
				what = "the visit cannot be read"
			}
			if what == "" {
				return nil
			}
			return in.found(k, what, "removed", func(b *Batch) error { return b.delete(k) })
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// seen looks for entries of the seen-set that name no URL, or another.
func (in *inspection) seen(ctx context.Context) error {
	return in.scan(ctx, keySeen, func(txn *badger.Txn, k, v []byte) error {
		var birth Birth
		ok := len(k) == 17 && len(v) == 9 && get(txn, append([]byte{keyBirth}, v[:8]...), &birth) == nil
		if ok {
			h := HashURL(birth.URL)
			ok = string(h[:]) == string(k[1:])
		}
		if ok {
			return nil
		}
		return in.found(k, "the seen-set names a URL that is not there", "removed", func(b *Batch) error { return b.delete(k) })
	})
}

// totals compares the running totals with what the records say.
func (in *inspection) totals(ctx context.Context) error {
	if in.mend && len(in.problems) > 0 { // fates have changed since births counted them
		again := &inspection{s: in.s, counts: Counts{States: map[string]uint64{}}}
		if err := again.births(ctx); err != nil {
			return err
		}
		in.counts.States, in.counts.Skipped = again.counts.States, again.counts.Skipped
	}
	had, err := in.s.Counts()
	if err != nil && !errors.Is(err, ErrDamaged) {
		return err
	}
	want := had
	want.URLs = max(had.URLs, in.counts.URLs) // numbers are never given twice
	want.Pages, want.Relevant, want.Bytes = in.counts.Pages, in.counts.Relevant, in.counts.Bytes
	want.States, want.Skipped, want.NearDuplicates = in.counts.States, in.counts.Skipped, in.counts.NearDuplicates
	if err == nil && had.URLs == want.URLs && had.Pages == want.Pages && had.Relevant == want.Relevant &&
		had.Bytes == want.Bytes && had.Skipped == want.Skipped && had.NearDuplicates == want.NearDuplicates && maps.Equal(had.States, want.States) {
		return nil
	}
	what := fmt.Sprintf("the totals are %s, the records say %s", short(had), short(want))
	return in.found(key(keyCount), what, "counted anew", func(b *Batch) error { return b.PutCounts(&want) })
}

func short(c Counts) string {
	return fmt.Sprintf("%d URLs, %d pages (%d relevant, %d bytes), %d skipped, %d near-duplicates, states %v", c.URLs, c.Pages, c.Relevant, c.Bytes, c.Skipped, c.NearDuplicates, c.States)
}

// found notes a problem and, when repairing, what mends it.
func (in *inspection) found(k []byte, what, repair string, fix func(b *Batch) error) error {
	in.problems = append(in.problems, Problem{Key: fmt.Sprintf("%q", k), What: what, Repair: repair})
	if !in.mend {
		return nil
	}
	if in.b == nil {
		in.b = in.s.Batch()
	}
	if err := fix(in.b); err != nil {
		return err
	}
	if in.b.Size() > MaxBatchBytes {
		return in.flush()
	}
	return nil
}

func (in *inspection) flush() error {
	if in.b == nil {
		return nil
	}
	b := in.b
	in.b = nil
	return b.Commit()
}

func (in *inspection) cancel() {
	if in.b != nil {
		in.b.Cancel()
		in.b = nil
	}
}

// scan calls f for every record of a kind, with a copy of its key.
func (in *inspection) scan(ctx context.Context, kind byte, f func(txn *badger.Txn, k, v []byte) error) error {
	return in.s.view(func(txn *badger.Txn) error {
		opt := badger.DefaultIteratorOptions
		opt.Prefix = key(kind)
		it := txn.NewIterator(opt)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			if err := ctx.Err(); err != nil {
				return err
			}
			item := it.Item()
			if err := item.Value(func(v []byte) error { return f(txn, item.KeyCopy(nil), v) }); err != nil {
				return err
			}
		}
		return nil
	})
}
