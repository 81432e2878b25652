package convert

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"

	"github.com/fxamacker/cbor/v2"

	"fossick/export/collection"
	"fossick/internal/reading"
)

// record is a page on its way from its store: what is local, and what global attributes are
// made of. A chunk is a file of some of them.
type record struct {
	Number      uint32   `cbor:"1,keyasint"` // in its store
	Ref         uint64   `cbor:"2,keyasint"`
	URL         string   `cbor:"3,keyasint"`
	Host        string   `cbor:"4,keyasint"`
	Domain      string   `cbor:"5,keyasint"`
	Title       string   `cbor:"6,keyasint,omitempty"`
	Description string   `cbor:"7,keyasint,omitempty"`
	Language    string   `cbor:"8,keyasint,omitempty"`
	Label       string   `cbor:"9,keyasint,omitempty"`
	Score       float64  `cbor:"10,keyasint"`
	Fetched     int64    `cbor:"11,keyasint"` // Unix milliseconds
	Bytes       int64    `cbor:"12,keyasint"`
	Refs        []uint64 `cbor:"13,keyasint,omitempty"`
}

func recordOf(p *collection.Page) (*record, error) {
	if p.Number > maxPages {
		return nil, fmt.Errorf("page %d; convert can read a store with up to %d pages", p.Number, uint64(maxPages))
	}
	return &record{
		Number: uint32(p.Number), Ref: p.Ref, URL: p.URL, Host: p.Host, Domain: p.Site, Title: p.Title, Description: p.Text,
		Language: p.Language, Label: p.Label, Score: p.Score, Fetched: p.Fetched.UnixMilli(), Bytes: p.Bytes, Refs: p.Refs,
	}, nil
}

// Titles may have bytes that are no UTF-8.
var decoding = sync.OnceValues(cbor.DecOptions{UTF8: cbor.UTF8DecodeInvalid, MaxArrayElements: 1 << 30}.DecMode)

// eachRecord calls do with the records of a store's chunks, in order.
func (m *manifest) eachRecord(ctx context.Context, store int, do func(r *record) error) error {
	mode, err := decoding()
	if err != nil {
		return err
	}
	chunks, _ := m.chunks(store)
	for _, name := range chunks {
		f, err := reading.Open(filepath.Join(m.dir, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		err = eachIn(ctx, mode.NewDecoder(bufio.NewReaderSize(f, 256<<10)), do)
		if err := errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func eachIn(ctx context.Context, from *cbor.Decoder, do func(r *record) error) error {
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		r := &record{}
		if err := from.Decode(r); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := do(r); err != nil {
			return err
		}
	}
}

// urlHash names a URL in joins: the first half of its SHA-256, so that no two URLs share one.
type urlHash [16]byte

func hashOf(url string) urlHash {
	sum := sha256.Sum256([]byte(url))
	return urlHash(sum[:16])
}
