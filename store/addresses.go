package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"github.com/dgraph-io/badger/v4"
)

// Addresses are what agents of one crawl find out together of addresses: in which parts of
// the web there are sites with hosts there. It is a view of a store.
type Addresses struct{ s *Store }

// AddressesOf returns a store's.
func AddressesOf(s *Store) Addresses { return Addresses{s} }

// AddressesBatch is changes of them, as a part of a batch.
type AddressesBatch struct{ b *Batch }

// AddressesIn returns those of a batch.
func AddressesIn(b *Batch) AddressesBatch { return AddressesBatch{b} }

// Neighbours are the parts of the web that have sites at an address.
type Neighbours struct {
	Part  uint16 // that the address is in
	Addr  string
	Sites []uint16
}

// Neighbours yields those of addresses that are in a part.
func (a Addresses) Neighbours(part uint16) iter.Seq2[Neighbours, error] {
	return each(a.s.records, partKey(keyAddress, part), neighboursOf)
}

func neighboursOf(k, v []byte) (n Neighbours, err error) {
	if len(k) < 4 || len(v) == 0 || len(v)%2 != 0 {
		return n, fmt.Errorf("store key %q: %w: want a part, an address and parts", k, ErrDamaged)
	}
	n.Part, n.Addr = binary.BigEndian.Uint16(k[1:]), string(k[3:])
	for ; len(v) > 0; v = v[2:] {
		n.Sites = append(n.Sites, binary.BigEndian.Uint16(v))
	}
	return n, nil
}

func addressKey(part uint16, addr string) []byte { return append(partKey(keyAddress, part), addr...) }

// Sites returns the parts that have sites at an address.
func (a AddressesBatch) Sites(part uint16, addr string) (sites []uint16, err error) {
	err = value(a.b.txn, addressKey(part, addr), func(k, v []byte) error {
		n, err := neighboursOf(k, v)
		sites = n.Sites
		return err
	})
	if errors.Is(err, ErrUnknown) {
		return nil, nil
	}
	return sites, err
}

// Put writes which parts have sites at an address.
func (a AddressesBatch) Put(n Neighbours) error {
	v := make([]byte, 0, 2*len(n.Sites))
	for _, part := range n.Sites {
		v = binary.BigEndian.AppendUint16(v, part)
	}
	return a.b.set(addressKey(n.Part, n.Addr), v)
}

// addresses looks for records of addresses that cannot be read.
func (in *inspection) addresses(ctx context.Context) error {
	return in.scan(ctx, keyAddress, func(_ *badger.Txn, k, v []byte) error {
		if _, err := neighboursOf(k, v); err != nil {
			return in.remove(k, err.Error())
		}
		return nil
	})
}
