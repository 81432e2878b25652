package store

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/dgraph-io/badger/v4"

	"fossick/store/change"
)

// Visits to a URL whose page is stored are many and alike, so they are kept as histories
// (package change) rather than as a record each. A history's key has the number of its first
// visit; those that follow it have the next numbers. What an error said, how many bytes came
// and which checksum the content had is not kept of them.

// PutRevisit writes the n-th exchange for a URL whose page is stored, n from 2.
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
	case err != nil: // full, or what there is cannot be read, which Verify tells
		k = historyKey(id, n)
		grown, err = change.History(nil).Append(compact(v))
	}
	if err != nil {
		return fmt.Errorf("store key %q: %w", k, err)
	}
	return b.set(k, grown)
}

// historyBefore returns the history that ends before the n-th visit, and its key. Nearly all
// begin with the second visit, or full ones after it, so that one look-up finds it.
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

// lastHistory returns the last history of a URL and its key, none where it has none.
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

// numberIn returns the visit's number that a key ends with.
func numberIn(k []byte) int { return int(binary.BigEndian.Uint16(k[len(k)-2:])) }

// compact is a visit as a history keeps it.
func compact(v Visit) change.Visit {
	return change.Visit{At: v.Start, Took: v.Millis, Rest: v.Rest, State: v.State, Change: v.Change, Code: v.Code, To: uint64(v.Location), RetryAfter: v.RetryAfter, Own: v.Own, Modified: v.Modified}
}

// long is a visit as it was before compact, as far as it is kept.
func long(v change.Visit) Visit {
	return Visit{Start: v.At, Millis: v.Took, Rest: v.Rest, State: v.State, Change: v.Change, Code: v.Code, Location: ID(v.To), RetryAfter: v.RetryAfter, Own: v.Own, Modified: v.Modified}
}

// appendHistory appends the visits of a record to those before.
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

// visitsOf returns all exchanges for a URL in the order of time.
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

// inOrder puts visits in the order of time. They are already, but where repair queued a URL
// again that had a history.
func inOrder(all []Visit) {
	slices.SortStableFunc(all, func(a, b Visit) int { return cmp.Compare(a.Start, b.Start) })
}

// visitAt returns the n-th exchange for a URL; ErrUnknown where it is not on record.
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

// revisits yields the visits of all histories.
func (u URLs) revisits() iter.Seq2[VisitedURL, error] {
	type told struct {
		of  VisitedURL
		all []Visit
	}
	of := withBirths(u.records, keyHistory, func(k, v []byte, births *births) (r told, _ bool, err error) {
		if r.all, err = appendHistory(nil, k, v); err != nil {
			return r, true, err
		}
		r.of.ID = ID(binary.BigEndian.Uint64(k[1:9]))
		birth, err := births.of(r.of.ID)
		r.of.URL = birth.URL
		return r, true, err
	})
	return func(yield func(VisitedURL, error) bool) {
		for r, err := range of {
			if err != nil {
				yield(VisitedURL{}, err)
				return
			}
			for _, r.of.Visit = range r.all {
				if !yield(r.of, nil) {
					return
				}
			}
		}
	}
}

// history checks a history: that it can be read, and that the URLs are there that it names.
func (in *inspection) history(txn *badger.Txn, k, v []byte) error {
	all, err := appendHistory(nil, k, v)
	if err != nil || len(all) == 0 {
		return in.remove(k, "the history of visits cannot be read")
	}
	for i := range all {
		there, err := in.isBorn(txn, all[i].Location)
		if err != nil {
			return err
		}
		if there {
			continue
		}
		what := fmt.Sprintf("it names URL %d, which is missing", all[i].Location)
		return in.found(k, what, "forgotten", func(b *Batch) error { return forgetTargets(b, k, all, in.born) })
	}
	return nil
}

// forgetTargets writes a history without the URLs that are not there.
func forgetTargets(b *Batch, k []byte, all []Visit, born idSet) (err error) {
	var h change.History
	for _, v := range all {
		if !born.has(v.Location) {
			v.Location = 0
		}
		if h, err = h.Append(compact(v)); err != nil {
			return fmt.Errorf("store key %q: %w", k, err)
		}
	}
	return b.set(k, h)
}
