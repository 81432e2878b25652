package store

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/dgraph-io/badger/v4"
)

// The index of near-duplicates cuts a signature into bands. A record of kind keyNear maps a band's
// value to the pages that have it. Pages that share a band are candidates. Pages with resemblance J
// of their shingles share one with probability 1−(1−J⁶)⁵: 99.9 % at J = 0.95, 97.7 % at 0.9, under
// half at 0.7.
//
// A record names only the nearBucket newest pages, so that a template shared by ten thousand pages
// costs no more than any other band (docs/duplicates.md). After a page has left a full record,
// older pages without room are unknown: the record then begins with a 0 and names three pages.
const (
	nearBands    = 5
	nearRows     = 6
	nearBucket   = 4
	nearMostRead = 16
	pushedOut    = 0 // stands for pages that found no room; no page has this number
)

// Candidate is a stored page that may be a near-duplicate of another.
type Candidate struct {
	Number      uint64 `cbor:"-"`
	URL         string `cbor:"2,keyasint"`
	ContentType string `cbor:"3,keyasint"`
	RobotsTag   string `cbor:"4,keyasint,omitempty"`
	Checksum    []byte `cbor:"5,keyasint"`
	Title       string `cbor:"7,keyasint"`
	Signature   []byte `cbor:"22,keyasint,omitempty"`
}

// Candidates returns the at most 16 pages with most shared bands, the newest first among equals. It
// makes at most 21 look-ups and is safe for concurrent use.
func (s *Store) Candidates(signature []byte) ([]Candidate, error) {
	var all []Candidate
	err := s.records.view(func(txn *badger.Txn) error {
		pages, err := sharing(txn, s.pageFilter, signature)
		if err != nil {
			return err
		}
		for _, n := range pages {
			c := Candidate{Number: n}
			err := get(txn, numKey(keyPage, n), &c)
			if errors.Is(err, ErrUnknown) || errors.Is(err, ErrDamaged) {
				continue // verify reports it; the crawl continues
			}
			if err != nil {
				return err
			}
			all = append(all, c)
		}
		return nil
	})
	return all, err
}

func sharing(txn *badger.Txn, filter *keyFilter, signature []byte) ([]uint64, error) {
	shared := map[uint64]int{}
	var pages []uint64
	for _, k := range nearKeys(signature) {
		named, err := bucket(txn, filter, k)
		if err != nil {
			return nil, err
		}
		for _, n := range named {
			if n == pushedOut {
				continue
			}
			if shared[n]++; shared[n] == 1 {
				pages = append(pages, n)
			}
		}
	}
	return mostShared(pages, shared), nil
}

// bucket returns the pages of an index record, none if it is missing or unreadable.
func bucket(txn *badger.Txn, filter *keyFilter, k []byte) ([]uint64, error) {
	if filter.lacks(bandHash(k)) {
		return nil, nil
	}
	pages, err := nearPages(txn, k)
	if errors.Is(err, ErrDamaged) {
		return nil, nil
	}
	return pages, err
}

// nearKeys returns the keys of a signature's bands; none for a short one, which is not compared.
func nearKeys(signature []byte) [][]byte {
	if len(signature) < nearBands*nearRows {
		return nil
	}
	keys := make([][]byte, nearBands)
	for band := range keys {
		keys[band] = append([]byte{keyNear, byte(band)}, signature[band*nearRows:(band+1)*nearRows]...)
	}
	return keys
}

func nearPages(txn *badger.Txn, k []byte) (pages []uint64, err error) {
	item, err := txn.Get(k)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("store key %q: %w", k, err)
	}
	err = valueOf(item, k, func(k, v []byte) error {
		pages, err = decodeNear(k, v)
		return err
	})
	return pages, err
}

func decodeNear(k, v []byte) ([]uint64, error) {
	if len(k) != 2+nearRows || len(v) == 0 || len(v)%8 != 0 || len(v) > 8*nearBucket {
		return nil, fmt.Errorf("store key %q: %w: %d and %d bytes, want %d and one to %d times 8",
			k, ErrDamaged, len(k), len(v), 2+nearRows, nearBucket)
	}
	var pages []uint64
	for ; len(v) > 0; v = v[8:] {
		pages = append(pages, binary.BigEndian.Uint64(v))
	}
	for i := 1; i < len(pages); i++ {
		if pages[i] <= pages[i-1] {
			return nil, fmt.Errorf("store key %q: %w: pages %v do not rise", k, ErrDamaged, pages)
		}
	}
	return pages, nil
}

// addNear adds page n to the index; a full record drops its oldest page.
func (b *Batch) addNear(n uint64, signature []byte) error {
	return b.changeNear(signature, func(pages []uint64) []uint64 {
		at, there := slices.BinarySearch(pages, n)
		if !there {
			pages = slices.Insert(pages, at, n)
		}
		switch {
		case len(pages) <= nearBucket:
			return pages
		case pages[0] == pushedOut:
			return slices.Delete(pages, 1, 2)
		}
		return pages[1:]
	})
}

func (b *Batch) dropNear(n uint64, signature []byte) error {
	return b.changeNear(signature, func(pages []uint64) []uint64 {
		full := len(pages) == nearBucket && pages[0] != pushedOut
		at, there := slices.BinarySearch(pages, n)
		if !there {
			return pages
		}
		if pages = slices.Delete(pages, at, at+1); full {
			pages = slices.Insert(pages, 0, pushedOut)
		}
		return pages
	})
}

// changeNear rewrites the records of a signature's bands. An unreadable one starts empty.
func (b *Batch) changeNear(signature []byte, change func([]uint64) []uint64) error {
	for _, k := range nearKeys(signature) {
		pages, err := bucket(b.txn, b.s.pageFilter, k)
		if err != nil {
			return err
		}
		if err := b.setNear(k, change(pages)); err != nil {
			return err
		}
	}
	return nil
}

func (b *Batch) setNear(k []byte, pages []uint64) error {
	if len(pages) == 0 {
		return b.delete(k)
	}
	b.s.pageFilter.add(bandHash(k))
	v := make([]byte, 0, 8*nearBucket)
	for _, n := range pages {
		v = binary.BigEndian.AppendUint64(v, n)
	}
	return b.set(k, v)
}

// NearIndex is an index of near-duplicates in memory, for crawls without a store. It finds the same
// pages as Candidates. It is not safe for concurrent use.
type NearIndex struct {
	bands map[nearBand][nearBucket]uint64 // newest page first; 0 means none
}

type nearBand [1 + nearRows]byte

func nearBandOf(signature []byte, band int) nearBand {
	k := nearBand{byte(band)}
	copy(k[1:], signature[band*nearRows:])
	return k
}

// Add enters page n, whose number must exceed all earlier ones.
func (x *NearIndex) Add(n uint64, signature []byte) {
	if len(signature) < nearBands*nearRows {
		return
	}
	if x.bands == nil {
		x.bands = map[nearBand][nearBucket]uint64{}
	}
	for band := range nearBands {
		k := nearBandOf(signature, band)
		pages := x.bands[k]
		copy(pages[1:], pages[:])
		pages[0] = n
		x.bands[k] = pages
	}
}

// Sharing returns the pages that share a band with this signature, in the order of Candidates.
func (x *NearIndex) Sharing(signature []byte) []uint64 {
	if len(signature) < nearBands*nearRows {
		return nil
	}
	shared := map[uint64]int{}
	var pages []uint64
	for band := range nearBands {
		for _, n := range x.bands[nearBandOf(signature, band)] {
			if n == 0 {
				break
			}
			if shared[n]++; shared[n] == 1 {
				pages = append(pages, n)
			}
		}
	}
	return mostShared(pages, shared)
}

func mostShared(pages []uint64, shared map[uint64]int) []uint64 {
	slices.SortFunc(pages, func(a, b uint64) int {
		return cmp.Or(cmp.Compare(shared[b], shared[a]), cmp.Compare(b, a))
	})
	return pages[:min(len(pages), nearMostRead)]
}
