package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// marks looks for marks that cannot be read or are of URLs that are not there.
func (in *inspection) marks(ctx context.Context) error {
	if err := in.marksOf(ctx, keyMark); err != nil {
		return err
	}
	return in.marksOf(ctx, keyMarkFor)
}

func (in *inspection) marksOf(ctx context.Context, kind byte) error {
	return in.scan(ctx, kind, func(txn *badger.Txn, k, v []byte) error {
		var birth Birth
		id, _, err := markOf(k)
		if err == nil {
			err = decode(k, v, &Mark{})
		}
		if err == nil {
			in.refers(id)
			if err = get(txn, numKey(keyBirth, uint64(id)), &birth); errors.Is(err, ErrDamaged) {
				return nil // urls has judged it
			}
			if finding(err) != nil {
				return err
			}
		}
		if errors.Is(err, ErrUnknown) {
			err = fmt.Errorf("a mark of URL %d, which is missing", id)
		}
		if err == nil {
			return nil
		}
		return in.remove(k, err.Error())
	})
}

// outbox looks for parcels, and for cursors of other agents, that cannot be read.
func (in *inspection) outbox(ctx context.Context) error {
	if err := in.scan(ctx, keyCursor, func(_ *badger.Txn, k, v []byte) error {
		if _, err := heardOf(k, v); err != nil {
			return in.remove(k, err.Error()) // that agent's links come once more
		}
		return nil
	}); err != nil {
		return err
	}
	return in.scan(ctx, keyParcel, func(_ *badger.Txn, k, _ []byte) error {
		if len(k) != parcelKeyLen {
			return in.remove(k, "want a part of the web and a number")
		}
		return nil
	})
}

// marksAre checks that a page is as relevant as people said, if somebody did; p is right
// afterwards.
func (in *inspection) marksAre(txn *badger.Txn, p *Page) error {
	if len(p.Topics) == 0 {
		return in.markIs(txn, p, 0)
	}
	for i := range p.Topics {
		if err := in.markIs(txn, p, i+1); err != nil {
			return err
		}
	}
	return nil
}

func (in *inspection) markIs(txn *badger.Txn, p *Page, topic int) error {
	m := Mark{Topic: topic}
	if err := get(txn, markKey(p.ID, topic), &m); err != nil || !p.heed(m) {
		return finding(err) // what is damaged, marks finds
	}
	what := fmt.Sprintf("page %d, %s, is %s by its mark, but its record differs", p.Number, p.URL, m)
	return in.found(numKey(keyPage, p.Number), what, "it is as the mark says", func(b *Batch) error { return b.PutPageRecord(p) })
}
