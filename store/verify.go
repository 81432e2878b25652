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

// ErrLost reports records that are gone, or may be with a part of a file, and that nothing
// names. What could be mended is.
var ErrLost = errors.New("records are gone that nothing names")

// ErrRemains reports errors that Repair found and could not mend.
var ErrRemains = errors.New("errors remain")

// Problem is something in a store that cannot be.
type Problem struct {
	Key    string `json:"key"`    // of the record, printable
	What   string `json:"what"`   // is wrong
	Repair string `json:"repair"` // what Repair does about it

	URL  string `json:"url,omitempty"` // of the page that cannot be read
	Lost bool   `json:"-"`             // records of unknown URLs may be gone with it
}

// Verify checks every record against those that it belongs with, and returns
// what is wrong, in the order of the passes. It changes nothing. The error is
// the store's or ctx's own, not a finding.
func (s *Store) Verify(ctx context.Context) ([]Problem, error) {
	in := &inspection{s: s, problems: slices.Clone(s.damaged)}
	err := in.run(ctx)
	return in.problems, err
}

// repairs bounds how often Repair begins anew. What one run mends may show the next one
// something; three were the most that were seen.
const repairs = 6

// Repair mends what Verify finds, from what the other records tell, and returns
// it. No page that can be read is lost; a URL whose story cannot be told is
// queued again; what belongs to nothing is removed. Verify finds nothing afterwards, or
// the error is ErrRemains, or that of a record that cannot be read: nothing that may
// belong to it is removed. After ErrLost, too, Verify finds nothing.
func (s *Store) Repair(ctx context.Context) (problems []Problem, err error) {
	var lost lostRecords
	for range repairs {
		in := &inspection{s: s, mend: true}
		err := in.run(ctx)
		problems = append(problems, in.problems...)
		lost.add(in.gone)
		if err != nil {
			return problems, err
		}
		if len(in.problems) == 0 {
			return problems, lost.err()
		}
	}
	left, err := s.Verify(ctx)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("%s: %w: %d, first %s: %s; try fossick repair again, or tell its authors", s.dir, ErrRemains, len(left), left[0].Key, left[0].What)
	}
	return problems, errors.Join(err, lost.err())
}

// RepairAll repairs the closed store in dir: its files, then its records.
func RepairAll(ctx context.Context, dir string) (problems []Problem, err error) {
	problems, err = MendTables(dir)
	if err != nil {
		return problems, err
	}
	s, err := Open(dir)
	if err != nil {
		return problems, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	records, err := s.Repair(ctx)
	problems = append(problems, records...)
	if err == nil && slices.ContainsFunc(problems, func(p Problem) bool { return p.Lost }) {
		err = fmt.Errorf("%s: %w, perhaps: those of the files above that could not be read; %s", dir, ErrLost, goOn)
	}
	return problems, err
}

// goOn is what to do after a loss.
const goOn = "the store is sound again: go on with fossick focus --resume, which finds them anew where pages link to them"

// lostRecords are those that nobody can name.
type lostRecords struct{ urls, pages uint64 }

func (l *lostRecords) add(more lostRecords) { l.urls += more.urls; l.pages += more.pages }

func (l lostRecords) err() error {
	if l == (lostRecords{}) {
		return nil
	}
	return fmt.Errorf("%w: %d URLs, and %d pages that were stored; %s", ErrLost, l.urls, l.pages, goOn)
}

// inspection is one run over a store. A pass sees what the passes before it
// mended.
type inspection struct {
	s        *Store
	mend     bool
	b        *Batch // of repairs, nil when there are none to write
	problems []Problem
	counts   Counts // as the records say
	born     idSet  // URLs that there are
	births   uint64 // how many
	requeued idSet  // URLs that were queued again
	queued   uint64 // how many
	gone     lostRecords
	moved    map[uint64]uint64 // pages → their new numbers, 0 for those that went
	holes    []uint64
	sitemaps bool // a host has read some
}

func (in *inspection) run(ctx context.Context) error {
	in.counts = Counts{States: map[string]uint64{}}
	in.born, in.requeued, in.moved = idSet{}, idSet{}, map[uint64]uint64{}
	for _, pass := range []func(context.Context) error{
		in.info, in.told, in.urls, in.strays, in.seen, in.marks, in.labels, in.pages, in.leftovers, in.repeats, in.ranks, in.near, in.hosts, in.exchanges, in.named, in.totals,
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

// info checks that the database has the store's Info.
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

// finding returns the error of a record that cannot be asked for: what is not there, or is
// damaged, is for a pass to find. Only what is known not to be there may cost another
// record its place.
func finding(err error) error {
	if errors.Is(err, ErrUnknown) || errors.Is(err, ErrDamaged) {
		return nil
	}
	return err
}

// urls checks that each URL is in the seen-set and either waits or has a fate.
func (in *inspection) urls(ctx context.Context) error {
	return in.scan(ctx, keyBirth, func(txn *badger.Txn, k, v []byte) error {
		id, birth, err := ID(0), Birth{}, error(nil)
		if n, keyErr := numOf(k); keyErr != nil {
			err = keyErr
		} else {
			id, err = ID(n), decode(k, v, &birth)
		}
		if err != nil {
			in.refers(id)
			return in.found(k, err.Error(), "removed", func(b *Batch) error { return b.delete(k) })
		}
		in.refers(id)
		in.births++
		in.born.add(id)
		if err := in.foundBy(txn, id, &birth); err != nil {
			return err
		}
		skipped, err := in.story(txn, id, birth)
		if err != nil {
			return err
		}
		return in.seenIs(txn, id, birth.URL, skipped)
	})
}

// refers notes that a record speaks of a URL: its number is never given again.
func (in *inspection) refers(id ID) {
	if id < 1<<40 { // a number beyond that is nonsense
		in.counts.URLs = max(in.counts.URLs, uint64(id))
	}
}

// foundBy checks that the URL is there that named another first.
func (in *inspection) foundBy(txn *badger.Txn, id ID, birth *Birth) error {
	there, err := in.isBorn(txn, birth.From)
	if err != nil || there {
		return err
	}
	from := birth.From
	birth.From = 0
	return in.found(numKey(keyBirth, uint64(id)), fmt.Sprintf("%s was found by URL %d, which is not there", birth.URL, from), "forgotten",
		func(b *Batch) error { return b.PutBirth(id, *birth) })
}

// isBorn says whether a URL is there; 0 is none, and nothing lacks it. That it is not
// is asked of the database itself: a walk over it may end early.
func (in *inspection) isBorn(txn *badger.Txn, id ID) (bool, error) {
	if id == 0 || in.born.has(id) {
		return true, nil
	}
	in.refers(id)
	err := value(txn, numKey(keyBirth, uint64(id)), func(k, v []byte) error { return decode(k, v, &Birth{}) })
	return err == nil, finding(err)
}

// story checks that a URL waits or has a fate, and not both.
func (in *inspection) story(txn *badger.Txn, id ID, birth Birth) (skipped bool, err error) {
	var q Queued
	var f Fate
	qErr := get(txn, numKey(keyQueued, uint64(id)), &q)
	fErr := get(txn, numKey(keyFate, uint64(id)), &f)
	if err := cmp.Or(finding(qErr), finding(fErr)); err != nil {
		return false, err
	}
	seen, err := lookup(txn, HashURL(birth.URL))
	if finding(err) != nil {
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
	return false, in.goes(id, birth.URL, k, birth.URL+" neither waits nor has it ended", "queued again", func(b *Batch) error {
		if err := b.delete(numKey(keyFate, uint64(id))); err != nil {
			return err
		}
		return b.PutQueued(id, placeAgain(txn, id, birth))
	})
}

// goes is found of a URL that is queued again.
func (in *inspection) goes(id ID, url string, k []byte, what, repair string, fix func(b *Batch) error) error {
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

// strays looks for records of URLs that were never born, or that speak of such.
func (in *inspection) strays(ctx context.Context) error {
	for _, kind := range []byte{keyQueued, keyFate, keyVisit} {
		err := in.scan(ctx, kind, func(txn *badger.Txn, k, v []byte) error {
			what := ""
			if len(k) < 9 {
				what = "the key is too short"
			} else if there, err := in.isBorn(txn, ID(binary.BigEndian.Uint64(k[1:]))); err != nil {
				return err
			} else if !there {
				what = "it belongs to no URL"
			} else if kind == keyVisit && decode(k, v, &Visit{}) != nil {
				what = "the visit cannot be read"
			}
			if what == "" {
				return in.pointer(txn, k, v)
			}
			return in.found(k, what, "removed", func(b *Batch) error { return b.delete(k) })
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// pointer checks that the URL is there that a place, a fate or a visit names.
func (in *inspection) pointer(txn *badger.Txn, k, v []byte) error {
	var q Queued
	var f Fate
	var x Visit
	to, record := &q.Parent, any(&q)
	switch k[0] {
	case keyFate:
		to, record = &f.Parent, &f
	case keyVisit:
		to, record = &x.Location, &x
	}
	if decode(k, v, record) != nil {
		return nil // urls has judged it
	}
	there, err := in.isBorn(txn, *to)
	if err != nil || there {
		return err
	}
	what := fmt.Sprintf("it names URL %d, which is not there", *to)
	*to = 0
	return in.found(k, what, "forgotten", func(b *Batch) error { return b.put(k, record) })
}

// seen looks for entries of the seen-set that name no URL, or another.
func (in *inspection) seen(ctx context.Context) error {
	return in.scan(ctx, keySeen, func(txn *badger.Txn, k, v []byte) error {
		var birth Birth
		ok := len(k) == 17 && len(v) == 9
		if ok {
			in.refers(ID(binary.BigEndian.Uint64(v)))
			err := get(txn, append([]byte{keyBirth}, v[:8]...), &birth)
			if finding(err) != nil {
				return err
			}
			h := HashURL(birth.URL)
			ok = err == nil && string(h[:]) == string(k[1:])
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
		again := &inspection{s: in.s, born: idSet{}, requeued: idSet{}, counts: Counts{States: map[string]uint64{}}}
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
	want.URLs = max(had.URLs, in.counts.URLs) // numbers are never given twice
	want.Lost = want.URLs - in.births
	in.gone.urls = want.Lost - min(want.Lost, had.Lost)
	if gone := had.Pages - min(had.Pages, in.counts.Pages); gone > in.queued {
		in.gone.pages = gone - in.queued
	}
	want.Pages, want.Relevant, want.Bytes = in.counts.Pages, in.counts.Relevant, in.counts.Bytes
	want.States, want.Skipped, want.NearDuplicates = in.counts.States, in.counts.Skipped, in.counts.NearDuplicates
	if err == nil && had.URLs == want.URLs && had.Pages == want.Pages && had.Relevant == want.Relevant &&
		had.Bytes == want.Bytes && had.Skipped == want.Skipped && had.NearDuplicates == want.NearDuplicates && had.Lost == want.Lost && maps.Equal(had.States, want.States) {
		return nil
	}
	what := fmt.Sprintf("the totals are %s, the records say %s", short(had), short(want))
	return in.found(key(keyCount), what, "counted anew", func(b *Batch) error { return b.PutCounts(&want) })
}

func short(c Counts) string {
	return fmt.Sprintf("%d URLs, %d of them lost, %d pages (%d relevant, %d bytes), %d skipped, %d near-duplicates, states %v", c.URLs, c.Lost, c.Pages, c.Relevant, c.Bytes, c.Skipped, c.NearDuplicates, c.States)
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
			k, called := item.KeyCopy(nil), false
			err := valueOf(item, k, func(k, v []byte) error { called = true; return f(txn, k, v) })
			if !called && errors.Is(err, ErrDamaged) {
				err = f(txn, k, nil) // which no record is
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
