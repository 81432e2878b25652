package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/dgraph-io/badger/v4"

	"fossick/store/change"
)

// URLs gives access to the URLs of a store, from discovery to outcome.
type URLs struct{ records *records }

func (s *Store) URLs() URLs { return URLs{s.records} }

func (u URLs) Discovery(id ID) (b Discovery, err error) {
	err = u.records.get(numKey(keyDiscovery, uint64(id)), &b)
	return b, err
}

func (u URLs) Names(ids []ID) ([]string, error) {
	names := make([]string, 0, len(ids))
	for _, id := range ids {
		b, err := u.Discovery(id)
		if err != nil {
			return nil, err
		}
		names = append(names, b.URL)
	}
	return names, nil
}

// Walk calls do with a function that returns the URL of an ID, or ErrUnknown. With rising IDs it
// costs at most one pass over the URLs.
func (u URLs) Walk(do func(name func(id ID) (string, error)) error) error {
	return u.records.view(func(txn *badger.Txn) error {
		discoveries := &discoveries{ahead: walk(txn, key(keyDiscovery))}
		defer discoveries.ahead.Close()
		discoveries.ahead.Rewind()
		return do(func(id ID) (string, error) {
			b, err := discoveries.of(id)
			return b.URL, err
		})
	})
}

func (u URLs) Waiting(id ID) (b Discovery, q Queued, err error) {
	err = u.records.view(func(txn *badger.Txn) error {
		if err := get(txn, numKey(keyDiscovery, uint64(id)), &b); err != nil {
			return err
		}
		return get(txn, numKey(keyQueued, uint64(id)), &q)
	})
	return b, q, err
}

// Copy is a URL with a stored page, for a conditional request.
type Copy struct {
	ID        ID
	Discovery Discovery
	Outcome   Outcome
	Page      *Page
	Visits    int // number of the last exchange
}

// CopyOf returns the stored page of a URL, or ErrUnknown if there is none.
func (u URLs) CopyOf(id ID) (*Copy, error) {
	c := &Copy{ID: id, Page: &Page{}}
	err := u.records.view(func(txn *badger.Txn) error {
		if err := get(txn, numKey(keyDiscovery, uint64(id)), &c.Discovery); err != nil {
			return err
		}
		if err := get(txn, numKey(keyOutcome, uint64(id)), &c.Outcome); err != nil {
			return err
		}
		if !c.Outcome.HasPage() {
			return fmt.Errorf("URL %d, %s: %w: it has no page", id, c.Discovery.URL, ErrUnknown)
		}
		if err := get(txn, numKey(keyPage, c.Outcome.Page), c.Page); err != nil {
			return err
		}
		c.Page.Number = c.Outcome.Page
		c.Visits = lastVisit(txn, id)
		return nil
	})
	return c, err
}

type Waiter struct {
	ID ID
	Discovery
	Queued
}

// Waiters yields every waiting URL in order of discovery.
func (u URLs) Waiters() iter.Seq2[Waiter, error] {
	return withDiscoveries(u.records, keyQueued, func(k, v []byte, discoveries *discoveries) (w Waiter, _ bool, err error) {
		if w.ID, err = idOf(k); err == nil {
			err = decode(k, v, &w.Queued)
		}
		if err == nil {
			w.Discovery, err = discoveries.of(w.ID)
		}
		return w, true, err
	})
}

type Ended struct {
	ID ID
	Discovery
	Outcome
}

// Ended yields the URLs with an outcome in a state ("" for any), in order of discovery.
func (u URLs) Ended(state string) iter.Seq2[Ended, error] {
	return withDiscoveries(u.records, keyOutcome, func(k, v []byte, discoveries *discoveries) (e Ended, wanted bool, err error) {
		if e.ID, err = idOf(k); err == nil {
			err = decode(k, v, &e.Outcome)
		}
		wanted = state == "" || e.State == state
		if err == nil && wanted {
			e.Discovery, err = discoveries.of(e.ID)
		}
		return e, wanted, err
	})
}

type VisitedURL struct {
	ID  ID
	URL string
	Visit
}

// Visits yields every visit by discovery, then time; first fetches before visits to stored pages.
func (u URLs) Visits() iter.Seq2[VisitedURL, error] {
	return func(yield func(VisitedURL, error) bool) {
		for _, part := range []iter.Seq2[VisitedURL, error]{u.firstVisits(), u.revisits()} {
			for v, err := range part {
				if !yield(v, err) || err != nil {
					return
				}
			}
		}
	}
}

func (u URLs) firstVisits() iter.Seq2[VisitedURL, error] {
	return withDiscoveries(u.records, keyVisit, func(k, v []byte, discoveries *discoveries) (visit VisitedURL, _ bool, err error) {
		if len(k) != 11 {
			return visit, true, fmt.Errorf("store key %q: %w: %d bytes, want 11", k, ErrDamaged, len(k))
		}
		visit.ID = ID(binary.BigEndian.Uint64(k[1:9]))
		if err := decode(k, v, &visit.Visit); err != nil {
			return visit, true, err
		}
		discovery, err := discoveries.of(visit.ID)
		visit.URL = discovery.URL
		return visit, true, err
	})
}

// withDiscoveries yields what read makes of each wanted record and its URL's discovery, until one is
// damaged. It walks both kinds side by side in one pass.
func withDiscoveries[T any](r *records, kind byte, read func(k, v []byte, discoveries *discoveries) (record T, wanted bool, err error)) iter.Seq2[T, error] {
	return seq(r, func(txn *badger.Txn, yield func(T) bool) error {
		discoveries := &discoveries{ahead: walk(txn, key(keyDiscovery))}
		defer discoveries.ahead.Close()
		discoveries.ahead.Rewind()
		for item := range items(txn, key(kind)) {
			var record T
			wanted := false
			err := valueOf(item, item.KeyCopy(nil), func(k, v []byte) (err error) {
				record, wanted, err = read(k, v, discoveries)
				return err
			})
			if err != nil || wanted && !yield(record) {
				return err
			}
		}
		return nil
	})
}

// discoveries finds discovery records by rising ID.
type discoveries struct {
	ahead     *badger.Iterator
	id        ID
	discovery Discovery
}

func (b *discoveries) of(id ID) (Discovery, error) {
	if id == b.id && id != 0 {
		return b.discovery, nil
	}
	want := numKey(keyDiscovery, uint64(id))
	// If many are wanted, the next is near, and stepping is cheaper than seeking.
	for steps := 0; b.ahead.Valid() && bytes.Compare(b.ahead.Item().Key(), want) < 0; steps++ {
		if steps < maxSteps {
			b.ahead.Next()
		} else {
			b.ahead.Seek(want)
		}
	}
	if !b.ahead.Valid() || !bytes.Equal(b.ahead.Item().Key(), want) {
		return Discovery{}, fmt.Errorf("store key %q: %w", want, ErrUnknown)
	}
	var discovery Discovery
	err := valueOf(b.ahead.Item(), want, func(k, v []byte) error { return decode(k, v, &discovery) })
	if err == nil {
		b.id, b.discovery = id, discovery
	}
	return discovery, err
}

// maxSteps is how many steps cost about as much as a seek.
const maxSteps = 16

// Visits to a stored page are packed into histories (package change), keyed by the number of the
// first visit, without error texts, sizes and checksums.

// PutRevisit writes the n-th exchange for a URL with a stored page, n from 2.
func PutRevisit(b *Batch, id ID, n int, v Visit) error {
	k, h, err := historyBefore(b.txn, id, n)
	if err != nil {
		return err
	}
	if len(k) == 0 || numberIn(k)+h.Len() != n { // none yet, or a visit lies between
		k, h = historyKey(id, n), nil
	}
	grown, err := h.Append(compact(v))
	switch {
	case errors.Is(err, change.ErrUnfit):
		return b.PutVisit(id, n, v)
	case err != nil: // full, or damaged, which Verify reports
		k = historyKey(id, n)
		grown, err = change.History(nil).Append(compact(v))
	}
	if err != nil {
		return fmt.Errorf("store key %q: %w", k, err)
	}
	return b.set(k, grown)
}

// historyBefore returns the history that ends just before the n-th visit, and its key. Histories
// usually begin at the second visit and follow each other when full, so one look-up finds it.
func historyBefore(txn *badger.Txn, id ID, n int) (k []byte, h change.History, err error) {
	k = historyKey(id, n-(n-2)%change.Most)
	err = value(txn, k, func(_, v []byte) error { h = slices.Clone(v); return nil })
	if err == nil && numberIn(k)+h.Len() == n {
		return k, h, nil
	}
	if err != nil && finding(err) != nil {
		return nil, nil, err
	}
	return lastHistory(txn, id)
}

func lastHistory(txn *badger.Txn, id ID) (k []byte, h change.History, err error) {
	for item := range items(txn, numKey(keyHistory, uint64(id))) {
		k = item.KeyCopy(nil)
		err = valueOf(item, k, func(_, v []byte) error { h = slices.Clone(v); return nil })
	}
	return k, h, err
}

func historyKey(id ID, first int) []byte {
	k := visitKey(id, first)
	k[0] = keyHistory
	return k
}

func numberIn(k []byte) int { return int(binary.BigEndian.Uint16(k[len(k)-2:])) }

func compact(v Visit) change.Visit {
	return change.Visit{At: v.Start, Took: v.Millis, Rest: v.Rest, State: v.State, Change: v.Change, Code: v.Code, To: uint64(v.Location), RetryAfter: v.RetryAfter, Own: v.Own, Modified: v.Modified}
}

func long(v change.Visit) Visit {
	return Visit{Start: v.At, Millis: v.Took, Rest: v.Rest, State: v.State, Change: v.Change, Code: v.Code, Location: ID(v.To), RetryAfter: v.RetryAfter, Own: v.Own, Modified: v.Modified}
}

func appendHistory(dst []Visit, k, v []byte) ([]Visit, error) {
	var room [change.Most]change.Visit
	kept, err := change.History(v).Visits(room[:0])
	if err == nil && len(k) != 11 {
		err = fmt.Errorf("%d bytes, want 11", len(k))
	}
	if err != nil {
		return dst, fmt.Errorf("store key %q: %w: %w", k, ErrDamaged, err)
	}
	for _, v := range kept {
		dst = append(dst, long(v))
	}
	return dst, nil
}

func visitsOf(txn *badger.Txn, id ID) (all []Visit, err error) {
	for item := range items(txn, numKey(keyVisit, uint64(id))) {
		var v Visit
		if err := valueOf(item, item.KeyCopy(nil), func(k, b []byte) error { return decode(k, b, &v) }); err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	for item := range items(txn, numKey(keyHistory, uint64(id))) {
		if err := valueOf(item, item.KeyCopy(nil), func(k, b []byte) (err error) { all, err = appendHistory(all, k, b); return err }); err != nil {
			return nil, err
		}
	}
	inOrder(all)
	return all, nil
}

func inOrder(all []Visit) {
	slices.SortStableFunc(all, func(a, b Visit) int { return cmp.Compare(a.Start, b.Start) })
}

func visitAt(txn *badger.Txn, id ID, n int) (v Visit, err error) {
	if err = get(txn, visitKey(id, n), &v); !errors.Is(err, ErrUnknown) {
		return v, err
	}
	for item := range items(txn, numKey(keyHistory, uint64(id))) {
		k := item.KeyCopy(nil)
		var all []Visit
		if damaged := valueOf(item, k, func(k, b []byte) (err error) { all, err = appendHistory(nil, k, b); return err }); damaged != nil {
			return v, damaged
		}
		if i := n - numberIn(k); i >= 0 && i < len(all) {
			return all[i], nil
		}
	}
	return v, err
}

func (u URLs) revisits() iter.Seq2[VisitedURL, error] {
	type page struct {
		VisitedURL
		all []Visit
	}
	pages := withDiscoveries(u.records, keyHistory, func(k, v []byte, discoveries *discoveries) (p page, _ bool, err error) {
		if p.all, err = appendHistory(nil, k, v); err != nil {
			return p, true, err
		}
		p.ID = ID(binary.BigEndian.Uint64(k[1:9]))
		discovery, err := discoveries.of(p.ID)
		p.URL = discovery.URL
		return p, true, err
	})
	return func(yield func(VisitedURL, error) bool) {
		for p, err := range pages {
			if err != nil {
				yield(VisitedURL{}, err)
				return
			}
			for _, p.Visit = range p.all {
				if !yield(p.VisitedURL, nil) {
					return
				}
			}
		}
	}
}

func (in *inspection) history(txn *badger.Txn, k, v []byte) error {
	all, err := appendHistory(nil, k, v)
	if err != nil || len(all) == 0 {
		return in.remove(k, "the history of visits cannot be read")
	}
	for i := range all {
		there, err := in.isDiscovered(txn, all[i].Location)
		if err != nil {
			return err
		}
		if there {
			continue
		}
		what := fmt.Sprintf("it names URL %d, which is missing", all[i].Location)
		return in.found(k, what, "forgotten", func(b *Batch) error { return forgetTargets(b, k, all, in.discovered) })
	}
	return nil
}

func forgetTargets(b *Batch, k []byte, all []Visit, discovered idSet) (err error) {
	var h change.History
	for _, v := range all {
		if !discovered.has(v.Location) {
			v.Location = 0
		}
		if h, err = h.Append(compact(v)); err != nil {
			return fmt.Errorf("store key %q: %w", k, err)
		}
	}
	return b.set(k, h)
}
