package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// marks looks for marks that cannot be read or are of URLs that are not there.
func (in *inspection) marks(ctx context.Context) error {
	return in.scan(ctx, keyMark, func(txn *badger.Txn, k, v []byte) error {
		var birth Birth
		id, err := numOf(k)
		if err == nil {
			err = decode(k, v, &Mark{})
		}
		if err == nil {
			in.refers(ID(id))
			if err = get(txn, numKey(keyBirth, id), &birth); errors.Is(err, ErrDamaged) {
				return nil // urls has judged it
			}
			if finding(err) != nil {
				return err
			}
		}
		if errors.Is(err, ErrUnknown) {
			err = fmt.Errorf("a mark of URL %d, which is not there", id)
		}
		if err == nil {
			return nil
		}
		return in.remove(k, err.Error())
	})
}

// markIs checks that a page is as relevant as a person said, if one did; p is right
// afterwards.
func (in *inspection) markIs(txn *badger.Txn, p *Page) error {
	var m Mark
	err := get(txn, numKey(keyMark, uint64(p.ID)), &m)
	if err != nil || m.OnTopic == p.Relevant {
		return finding(err) // what is damaged, marks finds
	}
	p.Relevant = m.OnTopic
	what := fmt.Sprintf("page %d, %s, is %s, and its record says otherwise", p.Number, p.URL, m)
	return in.found(numKey(keyPage, p.Number), what, "it is as the mark says", func(b *Batch) error { return b.putMarked(p, m) })
}
