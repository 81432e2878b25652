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
	First string // site that has the address, of a crawl with one site an address; else ""
}

// noPart stands between the parts and the site: there are fewer parts.
const noPart = 0xffff

// Neighbours yields those of addresses that are in a part.
func (a Addresses) Neighbours(part uint16) iter.Seq2[Neighbours, error] {
	return each(a.s.records, partKey(keyAddress, part), neighboursOf)
}

func neighboursOf(k, v []byte) (n Neighbours, err error) {
	if len(k) < 4 {
		return n, fmt.Errorf("store key %q: %w: want a part and an address", k, ErrDamaged)
	}
	n.Part, n.Addr = binary.BigEndian.Uint16(k[1:]), string(k[3:])
	for ; len(v) > 1; v = v[2:] {
		if part := binary.BigEndian.Uint16(v); part != noPart {
			n.Sites = append(n.Sites, part)
			continue
		}
		n.First, v = string(v[2:]), nil
		break
	}
	if len(v) != 0 || len(n.Sites) == 0 {
		return n, fmt.Errorf("store key %q: %w: want parts, and perhaps a site", k, ErrDamaged)
	}
	return n, nil
}

func addressKey(part uint16, addr string) []byte { return append(partKey(keyAddress, part), addr...) }

// At returns what is known of an address in a part.
func (a AddressesBatch) At(part uint16, addr string) (n Neighbours, err error) {
	err = value(a.b.txn, addressKey(part, addr), func(k, v []byte) error {
		n, err = neighboursOf(k, v)
		return err
	})
	if errors.Is(err, ErrUnknown) {
		return Neighbours{Part: part, Addr: addr}, nil
	}
	return n, err
}

// Put writes what is known of an address.
func (a AddressesBatch) Put(n Neighbours) error {
	v := make([]byte, 0, 2*len(n.Sites))
	for _, part := range n.Sites {
		v = binary.BigEndian.AppendUint16(v, part)
	}
	if n.First != "" {
		v = append(binary.BigEndian.AppendUint16(v, noPart), n.First...)
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
