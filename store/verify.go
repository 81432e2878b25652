package store

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/dgraph-io/badger/v4"
)

// Problem is a violation of the store's invariants.
type Problem struct {
	Key    string `json:"key"`
	What   string `json:"what"`
	Repair string `json:"repair"` // what repair does about it

	URL  string `json:"url,omitempty"`
	Lost bool   `json:"-"` // records whose URLs are unknown may be gone too
}

// Verify checks every record against related ones and returns the problems in the order of its
// passes. It changes nothing. The error is a failure to read, or ctx's.
func (s *Store) Verify(ctx context.Context) ([]Problem, error) {
	in := newInspection(s, false)
	in.problems = slices.Clone(s.damaged)
	err := in.run(ctx)
	return in.problems, err
}

// inspection is one run over a store. Each pass sees the repairs of earlier passes.
type inspection struct {
	*findings
	numbers     renumbering
	counts      Counts
	discovered  idSet // URLs with a discovery record
	discoveries uint64
	requeued    idSet
	queued      uint64
	gone        lostRecords
}

func newInspection(s *Store, mend bool) *inspection {
	return &inspection{
		findings: &findings{batches: batches{s: s}, mend: mend}, numbers: renumbering{s: s, moved: map[uint64]uint64{}},
		counts: Counts{States: map[string]uint64{}}, discovered: idSet{}, requeued: idSet{},
	}
}

func (in *inspection) run(ctx context.Context) error {
	made, hosts := derived{in.findings}, &hostCheck{findings: in.findings}
	for _, pass := range []func(context.Context) error{
		in.info, in.undiscovered, in.urls, in.strays, in.seen, in.outbox, in.marks, in.unrelated, in.pages, in.leftovers, in.versions, in.repeats, made.ranks, made.near, hosts.hosts, hosts.exchanges, hosts.named, in.totals,
	} {
		if err := pass(ctx); err != nil {
			in.cancel()
			return err
		}
		if err := in.flush(); err != nil {
			return err
		}
	}
	return nil
}

func (in *inspection) info(context.Context) error {
	if in.s.infoLost == nil {
		return nil
	}
	err := in.found(key(keyInfo), in.s.infoLost.Error(), "taken from "+infoFile, func(b *Batch) error { return b.put(key(keyInfo), in.s.info) })
	if in.mend {
		in.s.infoLost = nil
	}
	return err
}

func (in *inspection) totals(ctx context.Context) error {
	if in.mend && len(in.problems) > 0 { // repairs have changed outcomes since urls counted them
		again := newInspection(in.s, false)
		if err := again.urls(ctx); err != nil {
			return err
		}
		in.counts.States, in.counts.Skipped = again.counts.States, again.counts.Skipped
	}
	had, err := in.s.Counts()
	if finding(err) != nil {
		return err
	}
	want := had
	want.URLs = max(had.URLs, in.counts.URLs) // IDs are never reused
	want.Lost = want.URLs - in.discoveries
	in.gone.urls = want.Lost - min(want.Lost, had.Lost)
	if gone := had.Pages - min(had.Pages, in.counts.Pages); gone > in.queued {
		in.gone.pages = gone - in.queued
	}
	want.Dropped = in.counts.Dropped
	want.Pages, want.Relevant, want.Bytes = in.counts.Pages, in.counts.Relevant, in.counts.Bytes
	want.States, want.Skipped, want.NearDuplicates = in.counts.States, in.counts.Skipped, in.counts.NearDuplicates
	want.Topics = in.counts.Topics
	if err == nil && sameTopics(had.Topics, want.Topics) && had.URLs == want.URLs && had.Pages == want.Pages && had.Dropped == want.Dropped && had.Relevant == want.Relevant &&
		had.Bytes == want.Bytes && had.Skipped == want.Skipped && had.NearDuplicates == want.NearDuplicates && had.Lost == want.Lost && maps.Equal(had.States, want.States) {
		return nil
	}
	what := fmt.Sprintf("the totals are %s, but the records add up to %s", short(had), short(want))
	return in.found(key(keyCount), what, "counted again", func(b *Batch) error { return b.PutCounts(&want) })
}

func short(c Counts) string {
	dropped := ""
	if c.Dropped > 0 {
		dropped = fmt.Sprintf(" and %d dropped", c.Dropped)
	}
	return fmt.Sprintf("%d URLs, %d of them lost, %d pages%s (%d relevant%s, %d bytes), %d skipped, %d near-duplicates, states %v", c.URLs, c.Lost, c.Pages, dropped, c.Relevant, byTopic(c.Topics), c.Bytes, c.Skipped, c.NearDuplicates, c.States)
}

// finding returns nil if a record is missing or makes no sense, since the pass over its kind
// handles that. It returns any other error, which ends the inspection: a failing disk must not
// make a record count as missing.
func finding(err error) error {
	if errors.Is(err, ErrUnknown) || errors.Is(err, ErrDamaged) {
		return nil
	}
	return err
}

type findings struct {
	batches
	mend     bool
	problems []Problem
}

func (f *findings) found(k []byte, what, repair string, fix func(b *Batch) error) error {
	f.problems = append(f.problems, Problem{Key: fmt.Sprintf("%q", k), What: what, Repair: repair})
	if !f.mend {
		return nil
	}
	return f.add(fix)
}

func (f *findings) remove(k []byte, what string) error {
	return f.found(k, what, "removed", func(b *Batch) error { return b.delete(k) })
}

// scan calls do for every record of a kind, with a copy of its key. A lost value is passed as nil.
func (f *findings) scan(ctx context.Context, kind byte, do func(txn *badger.Txn, k, v []byte) error) error {
	return f.s.records.view(func(txn *badger.Txn) error {
		opt := badger.DefaultIteratorOptions
		opt.Prefix = key(kind)
		it := txn.NewIterator(opt)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			if err := ctx.Err(); err != nil {
				return err
			}
			item := it.Item()
			k, called := item.KeyCopy(nil), false
			err := valueOf(item, k, func(k, v []byte) error { called = true; return do(txn, k, v) })
			if !called && errors.Is(err, ErrDamaged) {
				err = do(txn, k, nil) // no valid record is nil
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (in *inspection) urls(ctx context.Context) error {
	return in.scan(ctx, keyDiscovery, func(txn *badger.Txn, k, v []byte) error {
		id, discovery, err := ID(0), Discovery{}, error(nil)
		if n, keyErr := numOf(k); keyErr != nil {
			err = keyErr
		} else {
			id, err = ID(n), decode(k, v, &discovery)
		}
		if err != nil {
			in.refers(id)
			return in.remove(k, err.Error())
		}
		in.refers(id)
		in.discoveries++
		in.discovered.add(id)
		if err := in.foundBy(txn, id, &discovery); err != nil {
			return err
		}
		skipped, err := in.state(txn, id, discovery)
		if err != nil {
			return err
		}
		return in.seenIs(txn, id, discovery.URL, skipped)
	})
}

// refers notes that a record names an ID, so that it is never given to another URL.
func (in *inspection) refers(id ID) {
	if id < 1<<40 { // a larger number is corrupt
		in.counts.URLs = max(in.counts.URLs, uint64(id))
	}
}

func (in *inspection) foundBy(txn *badger.Txn, id ID, discovery *Discovery) error {
	there, err := in.isDiscovered(txn, discovery.From)
	if err != nil || there {
		return err
	}
	from := discovery.From
	discovery.From = 0
	return in.found(numKey(keyDiscovery, uint64(id)), fmt.Sprintf("%s was found by URL %d, which is missing", discovery.URL, from), "forgotten",
		func(b *Batch) error { return b.PutDiscovery(id, *discovery) })
}

func (in *inspection) isDiscovered(txn *badger.Txn, id ID) (bool, error) {
	if id == 0 || in.discovered.has(id) {
		return true, nil
	}
	in.refers(id)
	err := value(txn, numKey(keyDiscovery, uint64(id)), func(k, v []byte) error { return decode(k, v, &Discovery{}) })
	return err == nil, finding(err)
}

func (in *inspection) state(txn *badger.Txn, id ID, discovery Discovery) (skipped bool, err error) {
	var q Queued
	var f Outcome
	qErr := get(txn, numKey(keyQueued, uint64(id)), &q)
	fErr := get(txn, numKey(keyOutcome, uint64(id)), &f)
	if err := cmp.Or(finding(qErr), finding(fErr)); err != nil {
		return false, err
	}
	seen, err := lookup(txn, HashURL(discovery.URL))
	if finding(err) != nil {
		return false, err
	}
	k := numKey(keyDiscovery, uint64(id))
	switch {
	case qErr == nil && errors.Is(fErr, ErrUnknown):
		return false, nil
	case fErr == nil && errors.Is(qErr, ErrUnknown):
		// A URL skipped at discovery has the state "none" or, still counted as a trap, "trap".
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
		return false, in.found(k, discovery.URL+" waits and has ended too", "it has ended", func(b *Batch) error {
			return b.delete(numKey(keyQueued, uint64(id)))
		})
	}
	return false, in.foundRequeued(id, discovery.URL, k, discovery.URL+" neither waits nor has it ended", "queued again", func(b *Batch) error {
		if err := b.delete(numKey(keyOutcome, uint64(id))); err != nil {
			return err
		}
		return b.PutQueued(id, requeuedPlace(txn, id, discovery))
	})
}

func (in *inspection) foundRequeued(id ID, url string, k []byte, what, repair string, fix func(b *Batch) error) error {
	if id != 0 && !in.requeued.has(id) {
		in.requeued.add(id)
		in.queued++
	}
	defer func(i int) { in.problems[i].URL = url }(len(in.problems))
	return in.found(k, what, repair, fix)
}

func (in *inspection) seenIs(txn *badger.Txn, id ID, url string, skipped bool) error {
	h := HashURL(url)
	seen, err := lookup(txn, h)
	if finding(err) != nil {
		return err
	}
	if err == nil && seen == (Seen{id, skipped}) {
		return nil
	}
	return in.found(bytesKey(keySeen, h[:]), fmt.Sprintf("the seen-set has %+v for %s, want URL %d", seen, url, id), "entered",
		func(b *Batch) error { return b.PutSeen(h, id, skipped) })
}

// strays finds records that belong to, or name, unknown URLs.
func (in *inspection) strays(ctx context.Context) error {
	for _, kind := range []byte{keyQueued, keyOutcome, keyVisit, keyHistory, keyWire} {
		err := in.scan(ctx, kind, func(txn *badger.Txn, k, v []byte) error {
			what := ""
			if len(k) < 9 {
				what = "the key is too short"
			} else if there, err := in.isDiscovered(txn, ID(binary.BigEndian.Uint64(k[1:]))); err != nil {
				return err
			} else if !there {
				what = "it belongs to no URL"
			} else if kind == keyVisit && decode(k, v, &Visit{}) != nil {
				what = "the visit cannot be read"
			} else if kind == keyHistory {
				return in.history(txn, k, v)
			} else if kind == keyWire {
				what, err = wireIs(txn, k, v)
				if err != nil {
					return err
				}
			}
			if what != "" {
				return in.remove(k, what)
			}
			if kind == keyWire {
				return nil
			}
			return in.pointer(txn, k, v)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (in *inspection) pointer(txn *badger.Txn, k, v []byte) error {
	var q Queued
	var f Outcome
	var x Visit
	to, record := &q.Parent, any(&q)
	switch k[0] {
	case keyOutcome:
		to, record = &f.Parent, &f
	case keyVisit:
		to, record = &x.Location, &x
	}
	if decode(k, v, record) != nil {
		return nil // urls has judged it
	}
	there, err := in.isDiscovered(txn, *to)
	if err != nil || there {
		return err
	}
	what := fmt.Sprintf("it names URL %d, which is missing", *to)
	*to = 0
	return in.found(k, what, "forgotten", func(b *Batch) error { return b.put(k, record) })
}

func (in *inspection) seen(ctx context.Context) error {
	return in.scan(ctx, keySeen, func(txn *badger.Txn, k, v []byte) error {
		var discovery Discovery
		ok := len(k) == 17 && len(v) == 9
		if ok {
			in.refers(ID(binary.BigEndian.Uint64(v)))
			err := get(txn, append([]byte{keyDiscovery}, v[:8]...), &discovery)
			if finding(err) != nil {
				return err
			}
			h := HashURL(discovery.URL)
			ok = err == nil && string(h[:]) == string(k[1:])
		}
		if ok {
			return nil
		}
		return in.remove(k, "the seen-set names a URL that is missing")
	})
}

func wireIs(txn *badger.Txn, k, v []byte) (what string, err error) {
	var x Exchanged
	var discovery Discovery
	if x.ID, x.Visit, err = wireKeyOf(k); err != nil {
		return err.Error(), nil
	}
	if err := get(txn, numKey(keyDiscovery, uint64(x.ID)), &discovery); err != nil {
		return "", finding(err)
	}
	if err := x.read(k, v); errors.Is(err, ErrDamaged) {
		return "the headers cannot be read: " + err.Error(), nil
	}
	if _, err := visitAt(txn, x.ID, x.Visit); err == nil || finding(err) != nil {
		return "", finding(err)
	}
	return "it belongs to no exchange", nil
}

type idSet map[uint64]uint64

func (s idSet) add(id ID) { s[uint64(id)/64] |= 1 << (id % 64) }

func (s idSet) has(id ID) bool { return s[uint64(id)/64]&(1<<(id%64)) != 0 }

func (in *inspection) unrelated(ctx context.Context) error {
	for _, c := range []struct {
		kind         byte
		what, repair string
		read         func(k, v []byte) error
	}{
		{keyForget, "a request to forget pages cannot be read: ", "removed", func(k, v []byte) error { return decode(k, v, &Forget{}) }},
		{keyHolder, "", "removed", func(k, v []byte) error { _, err := holderOf(k, v); return err }},
		{keyAddress, "", "removed", func(k, v []byte) error { _, err := neighboursOf(k, v); return err }},
		{keyRounds, "the rounds of a watch cannot be read: ", "removed", func(k, v []byte) error { return decode(k, v, &[]Round{}) }},
		{keyChances, "the learned failure rates cannot be read: ", "removed", func(k, v []byte) error { return decode(k, v, &[]byte{}) }},
		{keyLabel, "", "removed: refine the pages again", func(k, v []byte) error { return decode(k, v, &Label{}) }},
	} {
		err := in.scan(ctx, c.kind, func(_ *badger.Txn, k, v []byte) error {
			if err := c.read(k, v); err != nil {
				return in.found(k, c.what+err.Error(), c.repair, func(b *Batch) error { return b.delete(k) })
			}
			return nil
		})
		if err == nil {
			err = in.flush()
		}
		if err != nil {
			return err
		}
	}
	return nil
}
