package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/dgraph-io/badger/v4"
	"github.com/klauspost/compress/zstd"
)

// Version is an earlier body of a page, and what the page's record said with it.
type Version struct {
	Number      int    `cbor:"-"`          // from 1, the oldest
	At          int64  `cbor:"1,keyasint"` // when it was stored, Unix milliseconds
	Until       int64  `cbor:"2,keyasint"` // when another body replaced it
	ContentType string `cbor:"3,keyasint"`
	Title       string `cbor:"4,keyasint"`
	Bytes       int64  `cbor:"5,keyasint"` // of the body, decompressed
	Frame       []byte `cbor:"6,keyasint"` // the body as zstd, its successor's body the dictionary
}

// versionDict names the dictionary in a frame. Each frame has one of its own, so the number
// says only that there is one.
const versionDict = 1

// minDict is the shortest body that helps another: zstd takes no shorter dictionary.
const minDict = 64

// maxVersions is what two bytes of a key count.
const maxVersions = 1<<16 - 1

// versionKey sorts a page's versions by falling number: a version is read after its successor.
func versionKey(id ID, n int) []byte {
	return binary.BigEndian.AppendUint16(numKey(keyVersion, uint64(id)), uint16(maxVersions-n))
}

// CompressFormer packs a former body against the one that replaces it; safe for concurrent
// use. The current body is stored whole, so reading a page costs what it did.
func CompressFormer(former, current []byte) ([]byte, error) {
	window := 1 << max(10, bits.Len(uint(len(former)+len(current))))
	opts := []zstd.EOption{zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(min(window, zstd.MaxWindowSize)), zstd.WithSingleSegment(true)}
	if len(current) >= minDict {
		opts = append(opts, zstd.WithEncoderDictRaw(versionDict, current))
	}
	enc, err := zstd.NewWriter(nil, opts...)
	if err != nil {
		return nil, fmt.Errorf("store: an earlier body: %w", err)
	}
	return enc.EncodeAll(former, nil), nil
}

// former unpacks a version against the body that replaced it.
func (v *Version) former(current []byte) ([]byte, error) {
	opts := []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(256 << 20)}
	if len(current) >= minDict {
		opts = append(opts, zstd.WithDecoderDictRaw(versionDict, current))
	}
	dec, err := zstd.NewReader(nil, opts...)
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	body, err := dec.DecodeAll(v.Frame, nil)
	if err == nil && int64(len(body)) != v.Bytes {
		err = fmt.Errorf("%d bytes, want %d", len(body), v.Bytes)
	}
	if err != nil {
		return nil, fmt.Errorf("version %d: %w: %w", v.Number, ErrDamaged, err)
	}
	return body, nil
}

// KeepVersion keeps the former body of a page, packed by CompressFormer, and counts it in the
// page's new record. It stands before ReplacePage in the same batch. Without a frame, as where
// the former body was lost, the versions before it go: their dictionary is gone.
func (b *Batch) KeepVersion(old, p *Page, frame []byte) error {
	if frame == nil || old.Versions >= maxVersions {
		return b.dropVersions(old)
	}
	p.Versions = old.Versions + 1
	return b.put(versionKey(old.ID, p.Versions), &Version{
		At: old.At, Until: p.At, ContentType: old.ContentType, Title: old.Title, Bytes: old.Bytes, Frame: frame,
	})
}

// dropVersions deletes a page's former bodies.
func (b *Batch) dropVersions(p *Page) error {
	for n := 1; n <= p.Versions; n++ {
		if err := b.delete(versionKey(p.ID, n)); err != nil {
			return err
		}
	}
	return nil
}

// Former returns the version of a page that was current at a time (Unix milliseconds), and
// its body; nil where the current body was, or where no version of that time was kept.
func (s *Store) Former(p *Page, at int64) (v *Version, body []byte, err error) {
	err = s.db.View(func(txn *badger.Txn) error {
		if body, err = s.codec.body(txn, p.Number); err != nil {
			return err
		}
		v, body, err = former(txn, p, body, at)
		return err
	})
	return v, body, err
}

// former goes back from the current body to the version of a time.
func former(txn *badger.Txn, p *Page, body []byte, at int64) (found *Version, _ []byte, err error) {
	for n := p.Versions; n > 0; n-- {
		v := &Version{}
		if err := get(txn, versionKey(p.ID, n), v); errors.Is(err, ErrUnknown) {
			break // repair took it out
		} else if err != nil {
			return nil, nil, err
		}
		if v.Until <= at {
			break
		}
		v.Number = n
		if body, err = v.former(body); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", p.URL, err)
		}
		if found = v; v.At <= at {
			break
		}
	}
	if found == nil {
		return nil, nil, nil
	}
	return found, body, nil
}

// versions checks that the former bodies of each page can be read, and belong to one. What is
// older than a version that cannot be read goes with it.
func (in *inspection) versions(ctx context.Context) error {
	of := &Page{}
	var body []byte
	bad := false
	return in.scan(ctx, keyVersion, func(txn *badger.Txn, k, v []byte) error {
		if len(k) != 11 {
			return in.remove(k, "the key of an earlier body is not 11 bytes long")
		}
		id, n := ID(binary.BigEndian.Uint64(k[1:])), maxVersions-int(binary.BigEndian.Uint16(k[9:]))
		if of.ID != id {
			of, bad, body = &Page{ID: id}, false, nil
			var f Fate
			if get(txn, numKey(keyFate, uint64(id)), &f) == nil && f.HasPage() && get(txn, numKey(keyPage, f.Page), of) == nil {
				of.Number = f.Page
				body, _ = in.s.codec.body(txn, of.Number) // a body that cannot be read is told by pages
			}
			of.ID = id
		}
		var err error
		version := Version{Number: n}
		switch {
		case n > of.Versions:
			return in.remove(k, "an earlier body belongs to no page")
		case bad:
			return in.remove(k, "an earlier body is a difference from a lost body")
		}
		if err = decode(k, v, &version); err == nil {
			version.Number = n
			body, err = version.former(body)
		}
		if err != nil {
			bad = true
			return in.remove(k, "an earlier body of "+of.URL+" cannot be read: "+err.Error())
		}
		return nil
	})
}
