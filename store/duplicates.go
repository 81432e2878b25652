package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"github.com/dgraph-io/badger/v4"
)

// Duplicates are what agents of one crawl find out together of pages with the same content:
// which URL stands for it, of contents in the parts that this agent has. It is a view of a
// store.
type Duplicates struct{ s *Store }

// DuplicatesOf returns a store's.
func DuplicatesOf(s *Store) Duplicates { return Duplicates{s} }

// DuplicatesBatch is changes of them, as a part of a batch.
type DuplicatesBatch struct{ b *Batch }

// DuplicatesIn returns those of a batch.
func DuplicatesIn(b *Batch) DuplicatesBatch { return DuplicatesBatch{b} }

// Holder is the URL that stands for a content, or for a band of near-duplicates.
type Holder struct {
	Part      uint16 // that the content is in
	Checksum  []byte
	URL       string
	Signature []byte // of its page; only of a band
}

// Bands returns a name for each band of a signature, as long as a checksum and unlike any. Pages
// that have one in common are compared.
func Bands(signature []byte) (names [][]byte) {
	for _, k := range nearKeys(signature) {
		sum := sha256.Sum256(k)
		names = append(names, sum[:len(Hash{})])
	}
	return names
}

// Holders yields those of a part.
func (d Duplicates) Holders(part uint16) iter.Seq2[Holder, error] {
	return each(d.s.records, partKey(keyHolder, part), holderOf)
}

func holderOf(k, v []byte) (Holder, error) {
	if len(k) != holderKeyLen || len(v) == 0 {
		return Holder{}, fmt.Errorf("store key %q: %w: want a part, a checksum and a URL", k, ErrDamaged)
	}
	url, signature, _ := bytes.Cut(v, []byte{0}) // which no URL has
	return Holder{binary.BigEndian.Uint16(k[1:]), k[3:], string(url), bytes.Clone(signature)}, nil
}

const holderKeyLen = 1 + 2 + len(Hash{})

// Holder returns what stands for a content or a band; its URL is "" where nothing does.
func (d DuplicatesBatch) Holder(part uint16, checksum []byte) (h Holder, err error) {
	err = value(d.b.txn, holderKey(part, checksum), func(k, v []byte) error {
		h, err = holderOf(k, v)
		return err
	})
	if errors.Is(err, ErrUnknown) {
		return Holder{}, nil
	}
	return h, err
}

// PutHolder writes what stands for a content or a band.
func (d DuplicatesBatch) PutHolder(h Holder) error {
	v := []byte(h.URL)
	if len(h.Signature) > 0 {
		v = append(append(v, 0), h.Signature...)
	}
	return d.b.set(holderKey(h.Part, h.Checksum), v)
}

func holderKey(part uint16, checksum []byte) []byte {
	return append(partKey(keyHolder, part), checksum...)
}

// Page returns the stored page of a URL, and the URL's fate; ErrUnknown where it has none.
func (d DuplicatesBatch) Page(id ID) (*Page, Fate, error) {
	f, err := d.b.Fate(id)
	if err == nil && !f.HasPage() {
		err = ErrUnknown
	}
	if err != nil {
		return nil, f, err
	}
	p := &Page{}
	err = get(d.b.txn, numKey(keyPage, f.Page), p)
	p.Number = f.Page
	return p, f, err
}

// Marked says whether people said of a URL whether it is on topic.
func (d DuplicatesBatch) Marked(id ID) (bool, error) {
	marked, err := hasKey(d.b.txn, markKey(id, 0))
	if marked || err != nil {
		return marked, err
	}
	for range items(d.b.txn, numKey(keyMarkFor, uint64(id))) {
		return true, nil
	}
	return false, nil
}

// Drop takes a stored page out for good, as another agent has stored a page with its
// content: sameAs is that one's URL. The number is given to no other page, so the record
// stays, to say what it was. A further page with the content is new to this store: whether
// the other one still has it, nobody here knows. How the URL ends by now is the caller's to
// put down, and the counts.
func (d DuplicatesBatch) Drop(p *Page, sameAs string) error {
	b := d.b
	if err := b.forget(p, func([]byte) bool { return false }); err != nil {
		return err
	}
	if err := b.dropNear(p.Number, p.Signature); err != nil {
		return err
	}
	for _, kind := range []byte{keyBody, keyLabel} {
		if err := b.delete(numKey(kind, p.Number)); err != nil {
			return err
		}
	}
	if err := b.dropRank(p.Number); err != nil {
		return err
	}
	if err := b.dropVersions(p); err != nil {
		return err
	}
	if err := b.dropWires(p.ID); err != nil {
		return err
	}
	return b.PutPageRecord(&Page{
		Number: p.Number, ID: p.ID, URL: p.URL, Checksum: p.Checksum, Raw: p.Raw, Depth: p.Depth, At: p.At, Relevant: p.Relevant, SameAs: sameAs,
	})
}

// holders looks for records of holders that cannot be read.
func (in *inspection) holders(ctx context.Context) error {
	return in.scan(ctx, keyHolder, func(_ *badger.Txn, k, v []byte) error {
		if _, err := holderOf(k, v); err != nil {
			return in.remove(k, err.Error())
		}
		return nil
	})
}
