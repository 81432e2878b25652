package store

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/dgraph-io/badger/v4"
)

// near checks the index of near-duplicates: it names pages that are there and
// have the band, and every page that has a signature, unless newer ones fill the
// record. Pages of earlier builds have no signatures, and none is missed.
func (in *inspection) near(ctx context.Context) error {
	err := in.scan(ctx, keyNear, in.nearRecord)
	if err == nil {
		err = in.flush() // what was removed makes room
	}
	if err != nil {
		return err
	}
	return in.scan(ctx, keyPage, func(txn *badger.Txn, k, v []byte) error {
		var c Candidate
		n, err := numOf(k)
		if err != nil || decode(k, v, &c) != nil {
			return nil // pages has judged it
		}
		return in.nearHas(txn, n, c.Signature)
	})
}

// nearRecord checks a record of the index.
func (in *inspection) nearRecord(txn *badger.Txn, k, v []byte) error {
	pages, err := decodeNear(k, v)
	if err != nil {
		return in.found(k, err.Error(), "removed", func(b *Batch) error { return b.delete(k) })
	}
	right := slices.DeleteFunc(slices.Clone(pages), func(n uint64) bool {
		var c Candidate
		getErr := get(txn, numKey(keyPage, n), &c)
		err = cmp.Or(err, finding(getErr))
		return getErr != nil ||
			!slices.ContainsFunc(nearKeys(c.Signature), func(own []byte) bool { return bytes.Equal(own, k) })
	})
	if err != nil {
		return err
	}
	if len(right) == len(pages) {
		return nil
	}
	what := fmt.Sprintf("the index of near-duplicates names the pages %v, of which only %v have the band", pages, right)
	return in.found(k, what, "taken out", func(b *Batch) error { return b.setNear(k, right) })
}

// nearHas checks that the index has page n.
func (in *inspection) nearHas(txn *badger.Txn, n uint64, signature []byte) error {
	for _, k := range nearKeys(signature) {
		pages, err := nearPages(txn, k)
		if finding(err) != nil {
			return err
		}
		if err != nil {
			continue // nearRecord has told
		}
		if slices.Contains(pages, n) || len(pages) == nearBucket && pages[0] > n {
			continue
		}
		return in.found(k, fmt.Sprintf("page %d is missing from the index of near-duplicates", n), "entered",
			func(b *Batch) error { return b.addNear(n, signature) })
	}
	return nil
}
