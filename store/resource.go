package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// Resource is an exchange that a rendered page is made of.
//
// The body of a rendered page is the HTML that its scripts have left: text, links, scores, former
// versions and near-duplicates are about that HTML, so all that reads a page later reads what the
// crawl has read. What servers sent stands beside it, for archives: the page's own answer, whose
// headers are those of its visit, and the answers to its scripts. Pages of earlier builds have no
// resources.
type Resource struct {
	URL         string `cbor:"1,keyasint"`
	Start       int64  `cbor:"2,keyasint"` // Unix milliseconds
	ContentType string `cbor:"3,keyasint,omitempty"`
	Headers     []byte `cbor:"4,keyasint,omitempty"` // packed by PackWire; none for the page's own answer
	Body        []byte `cbor:"5,keyasint"`           // compressed by Store.Compress; Resources unpacks it
	Wire        Wire   `cbor:"-"`                    // Headers, unpacked by Resources
}

func resourceKey(page uint64, n int) []byte {
	return binary.BigEndian.AppendUint16(numKey(keyResource, page), uint16(n))
}

// PutResources stores the exchanges of a rendered page; the first is the page's own.
func (b *Batch) PutResources(page uint64, all []Resource) error {
	for n := range all {
		if err := b.put(resourceKey(page, n), &all[n]); err != nil {
			return err
		}
	}
	return nil
}

func (b *Batch) dropResources(page uint64) error {
	var keys [][]byte
	for item := range items(b.txn, numKey(keyResource, page)) {
		keys = append(keys, item.KeyCopy(nil))
	}
	return b.delete(keys...)
}

// moveResources gives the resources of a page to another number.
func (b *Batch) moveResources(from, to uint64) error {
	all, err := resources(b.txn, from)
	if err != nil && !errors.Is(err, ErrDamaged) {
		return err
	}
	return errors.Join(b.PutResources(to, all), b.dropResources(from))
}

// resources returns those of a page; none if its own answer is lost.
func resources(txn *badger.Txn, page uint64) (all []Resource, err error) {
	for item := range items(txn, numKey(keyResource, page)) {
		k, r := item.KeyCopy(nil), Resource{}
		if len(all) == 0 && !bytes.Equal(k, resourceKey(page, 0)) {
			return nil, nil
		}
		if err := valueOf(item, k, func(k, v []byte) error { return decode(k, v, &r) }); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// Resources returns the exchanges of a rendered page, the page's own first; none for another page.
func (s *Store) Resources(page uint64) (all []Resource, err error) {
	err = s.records.view(func(txn *badger.Txn) error {
		all, err = resources(txn, page)
		return err
	})
	for n := range all {
		r := &all[n]
		if r.Body, err = s.codec.unpack(r.Body); err != nil {
			return nil, fmt.Errorf("store key %q: %w: %w", resourceKey(page, n), ErrDamaged, err)
		}
		if len(r.Headers) < 2 {
			continue
		}
		if why := r.Wire.unpack(r.Headers, r.URL); why != "" {
			return nil, fmt.Errorf("store key %q: %w: %s", resourceKey(page, n), ErrDamaged, why)
		}
	}
	return all, err
}

// forgetResources removes the answers to scripts whose URLs are to be forgotten.
func (w *withdrawal) forgetResources(ctx context.Context) error {
	var keys [][]byte
	err := w.s.records.view(func(txn *badger.Txn) error {
		for item := range items(txn, key(keyResource)) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			k, r := item.KeyCopy(nil), Resource{}
			if err := valueOf(item, k, func(k, v []byte) error { return decode(k, v, &r) }); err != nil {
				continue // verify reports it
			}
			if Forgets(w.asked).Has(r.URL) {
				keys = append(keys, k)
			}
		}
		return nil
	})
	for _, k := range keys {
		if err == nil {
			err = errors.Join(ctx.Err(), w.add(func(b *Batch) error { return b.delete(k) }))
		}
	}
	return err
}
