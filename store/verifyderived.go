package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dgraph-io/badger/v4"
)

// derived checks what is made of the pages, and could be made again: labels, ranks, the
// index of near-duplicates.
type derived struct{ *findings }

// labels looks for labels that cannot be read.
func (d derived) labels(ctx context.Context) error {
	return d.scan(ctx, keyLabel, func(_ *badger.Txn, k, v []byte) error {
		err := decode(k, v, &Label{})
		if err == nil {
			return nil
		}
		return d.found(k, err.Error(), "removed: refine the pages again", func(b *Batch) error { return b.delete(k) })
	})
}

// ranks checks that the ranking can be read and that its ranks are numbers, of
// pages that are there. Those of the other side are a ranking's that was cut off,
// and nobody reads them.
func (d derived) ranks(ctx context.Context) error {
	ranking, err := d.s.Ranks().Last()
	if err == nil && ranking != nil && ranking.Side > 1 {
		err = fmt.Errorf("store key %q: %w: side %d", key(keyRanking), ErrDamaged, ranking.Side)
	}
	if errors.Is(err, ErrDamaged) {
		return d.found(key(keyRanking), err.Error(), "removed: rank the pages again", func(b *Batch) error { return b.delete(key(keyRanking)) })
	}
	if err != nil {
		return err
	}
	return d.scan(ctx, keyRank, func(txn *badger.Txn, k, v []byte) error {
		what := ""
		var rank Rank
		switch {
		case len(k) != 10 || k[1] > 1:
			what = "the key is not a page's"
		case ranking == nil || k[1] != ranking.Side:
			return nil
		case decode(k, v, &rank) != nil:
			what = "the rank cannot be read"
		case !isShare(rank.Score) || !isShare(rank.Hub):
			what = fmt.Sprintf("the rank is %g and %g, want shares", rank.Score, rank.Hub)
		default:
			if has, err := hasKey(txn, numKey(keyPage, binary.BigEndian.Uint64(k[2:]))); err != nil || has {
				return err
			}
			what = "it belongs to no page"
		}
		return d.remove(k, what)
	})
}

// isShare says whether x is in [0,1], but for rounding.
func isShare(x float64) bool { return x >= 0 && x <= 1+1e-9 && !math.IsNaN(x) }

// near checks the index of near-duplicates. It names pages that are there and have the
// band, and every page with a signature, unless newer ones fill the record. Pages of
// earlier builds have no signatures, and none is missed.
func (d derived) near(ctx context.Context) error {
	err := d.scan(ctx, keyNear, d.nearRecord)
	if err == nil {
		err = d.flush() // what was removed makes room
	}
	if err != nil {
		return err
	}
	return d.scan(ctx, keyPage, func(txn *badger.Txn, k, v []byte) error {
		var c Candidate
		n, err := numOf(k)
		if err != nil || decode(k, v, &c) != nil {
			return nil // pages has judged it
		}
		return d.nearHas(txn, n, c.Signature)
	})
}

// nearRecord checks a record of the index.
func (d derived) nearRecord(txn *badger.Txn, k, v []byte) error {
	pages, err := decodeNear(k, v)
	if err != nil {
		return d.remove(k, err.Error())
	}
	right := slices.DeleteFunc(slices.Clone(pages), func(n uint64) bool {
		if n == pushedOut {
			return false
		}
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
	return d.found(k, what, "removed", func(b *Batch) error { return b.setNear(k, right) })
}

// nearHas checks that the index has page n.
func (d derived) nearHas(txn *badger.Txn, n uint64, signature []byte) error {
	for _, k := range nearKeys(signature) {
		pages, err := nearPages(txn, k)
		if finding(err) != nil {
			return err
		}
		if err != nil {
			continue // nearRecord has told
		}
		if slices.Contains(pages, n) || len(pages) == nearBucket && pages[0] > n || len(pages) > 0 && pages[0] == pushedOut {
			continue
		}
		return d.found(k, fmt.Sprintf("page %d is missing from the index of near-duplicates", n), "entered",
			func(b *Batch) error { return b.addNear(n, signature) })
	}
	return nil
}
