package tables

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"

	"github.com/fxamacker/cbor/v2"

	"fossick/export"
	"fossick/internal/fileio"
)

type agent struct {
	m     *manifest
	store int
	opt   *Options
	pages *export.Collection
}

func (a *agent) do(ctx context.Context) error {
	name, total := a.m.Stores[a.store].Name, a.pages.Len()
	a.opt.Step("reading "+name, total)
	if err := a.read(ctx); err != nil {
		return err
	}
	a.opt.Step("resolving links of "+name, total)
	return a.link(ctx)
}

func (a *agent) source() *export.Source { return a.pages.Sources()[0] }

func (a *agent) read(ctx context.Context) error {
	s := &a.m.Stores[a.store]
	if s.Read {
		return nil
	}
	chunks, last := a.m.chunks(a.store)
	selection, err := a.pages.Select(ctx, export.Choice{After: last}, export.Want{Text: true, Refs: true})
	if err != nil {
		return err
	}
	c := &chunk{a: a, n: len(chunks)}
	bodies := 0 // unreadable bodies
	for p, err := range selection.Pages(ctx) {
		if err != nil {
			return errors.Join(err, c.abandon())
		}
		if p.Damaged {
			bodies++
			s.Damaged++
		}
		if err := c.add(p); err != nil {
			return errors.Join(err, c.abandon())
		}
	}
	left := selection.Left()
	s.Withdrawn, s.Refused, s.Read = left.Withdrawn, left.Refused, true
	s.Damaged += left.Damaged - bodies // unreadable records
	if c.to == nil {
		return a.m.save()
	}
	return c.end()
}

type chunk struct {
	a     *agent
	n     int // chunks finished
	to    *output
	buf   *bufio.Writer
	enc   *cbor.Encoder
	pages int
	last  uint64
}

func (c *chunk) name() string { return storeFolder(c.a.store) + chunkName(c.n) }

func chunkName(n int) string { return fmt.Sprintf("pages-%05d", n) }

func (c *chunk) add(p *export.Page) (err error) {
	if c.to == nil {
		if c.to, err = c.a.m.create(c.name()); err != nil {
			return err
		}
		c.buf = bufio.NewWriterSize(c.to, 256<<10)
		c.enc = cbor.NewEncoder(c.buf)
	}
	r, err := recordOf(p)
	if err != nil {
		return err
	}
	if err := c.enc.Encode(r); err != nil {
		return err
	}
	c.last = p.Number
	if c.pages++; c.pages == c.a.opt.limits.chunk {
		return c.end()
	}
	return nil
}

func (c *chunk) end() error {
	if err := errors.Join(c.buf.Flush(), c.to.Close()); err != nil {
		return err
	}
	c.to = nil
	if err := c.a.m.finished(c.name()); err != nil {
		return err
	}
	c.a.m.Files[len(c.a.m.Files)-1].Last = c.last
	c.n, c.pages = c.n+1, 0
	return c.a.m.save()
}

func (c *chunk) abandon() error {
	if c.to == nil {
		return nil
	}
	return c.to.File.Close()
}

// record is a page between two steps: its local attributes, and the data for its global ones.
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

func recordOf(p *export.Page) (*record, error) {
	if p.Number > maxPages {
		return nil, fmt.Errorf("page %d; convert can read a store with up to %d pages", p.Number, uint64(maxPages))
	}
	return &record{
		Number: uint32(p.Number), Ref: p.Ref, URL: p.URL, Host: p.Host, Domain: p.Site, Title: p.Title, Description: p.Text,
		Language: p.Language, Label: p.Label, Score: p.Score, Fetched: p.Fetched.UnixMilli(), Bytes: p.Bytes, Refs: p.Refs,
	}, nil
}

// Titles may hold invalid UTF-8.
var decoding = sync.OnceValues(cbor.DecOptions{UTF8: cbor.UTF8DecodeInvalid, MaxArrayElements: 1 << 30}.DecMode)

func (m *manifest) eachRecord(ctx context.Context, store int, do func(r *record) error) error {
	mode, err := decoding()
	if err != nil {
		return err
	}
	chunks, _ := m.chunks(store)
	for _, name := range chunks {
		f, err := fileio.Open(filepath.Join(m.dir, filepath.FromSlash(name)))
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

// urlHash identifies a URL in joins: the first half of its SHA-256, so collisions can be ignored.
type urlHash [16]byte

func hashOf(url string) urlHash {
	sum := sha256.Sum256([]byte(url))
	return urlHash(sum[:16])
}

type byRef struct {
	ref  uint64
	from uint32 // page number
}

// byHash is a link keyed by its target's URL, or an alias keyed by its own URL.
type byHash struct {
	hash urlHash
	from uint32 // number of the linking page, or of the alias's page
}

const byHashBytes = len(urlHash{}) + 4

func compareHash(a, b byHash) int {
	return cmp.Or(bytes.Compare(a.hash[:], b.hash[:]), cmp.Compare(a.from, b.from))
}

func (x byHash) append(dst []byte) []byte {
	return binary.BigEndian.AppendUint32(append(dst, x.hash[:]...), x.from)
}

func readByHash(r io.Reader) (x byHash, err error) {
	var b [byHashBytes]byte
	if _, err = io.ReadFull(r, b[:]); err != nil {
		return x, err
	}
	copy(x.hash[:], b[:])
	x.from = binary.BigEndian.Uint32(b[len(x.hash):])
	return x, nil
}

func refSorter(dir string, limit int) *fileio.Sorter[byRef] {
	return fileio.NewSorter(fileio.SortOptions[byRef]{
		Dir: dir, Limit: limit, Unique: true,
		Compare: func(a, b byRef) int { return cmp.Or(cmp.Compare(a.ref, b.ref), cmp.Compare(a.from, b.from)) },
		Append: func(dst []byte, before, x byRef) []byte {
			return binary.AppendUvarint(binary.AppendUvarint(dst, x.ref-before.ref), uint64(x.from))
		},
		Read: func(r *bufio.Reader, before byRef) (byRef, error) {
			gap, err := binary.ReadUvarint(r)
			if err != nil {
				return byRef{}, err
			}
			from, err := binary.ReadUvarint(r)
			return byRef{before.ref + gap, uint32(from)}, err
		},
	})
}

func hashSorter(dir string, limit int) *fileio.Sorter[byHash] {
	return fileio.NewSorter(fileio.SortOptions[byHash]{
		Dir: dir, Limit: limit, Unique: true, Compare: compareHash,
		Append: func(dst []byte, _, x byHash) []byte { return x.append(dst) },
		Read:   func(r *bufio.Reader, _ byHash) (byHash, error) { return readByHash(r) },
	})
}

// Files of a store's links and aliases (redirects and duplicates), sorted by hash.
func linksFile(store int) string   { return storeFolder(store) + "links" }
func aliasesFile(store int) string { return storeFolder(store) + "aliases" }

func (a *agent) link(ctx context.Context) (err error) {
	if a.m.Stores[a.store].Linked {
		return nil
	}
	refs := refSorter(a.m.scratch(), a.opt.limits.refs)
	defer func() { err = errors.Join(err, refs.Close()) }()
	aliases, err := a.source().Aliases(ctx)
	if err != nil {
		return err
	}
	pageOf := map[uint64]uint32{} // by an alias's target: page number; 0 for none
	for _, alias := range aliases {
		pageOf[alias.To] = 0
	}
	err = a.m.eachRecord(ctx, a.store, func(r *record) error {
		if _, is := pageOf[r.Ref]; is {
			pageOf[r.Ref] = r.Number
		}
		for _, to := range r.Refs {
			if err := refs.Add(byRef{to, r.Number}); err != nil {
				return err
			}
		}
		a.opt.Did(1)
		return nil
	})
	if err != nil {
		return err
	}
	links := func(add func(byRef) error) error { return refs.Each(ctx, add) }
	if err := a.name(ctx, linksFile(a.store), links); err != nil {
		return err
	}
	standing := func(add func(byRef) error) error {
		for _, alias := range aliases {
			if n := pageOf[alias.To]; n != 0 {
				if err := add(byRef{alias.From, n}); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := a.name(ctx, aliasesFile(a.store), standing); err != nil {
		return err
	}
	a.m.Stores[a.store].Linked = true
	return a.m.save()
}

// name writes the items of each to a file, sorted by the hash of their URL.
func (a *agent) name(ctx context.Context, file string, each func(add func(byRef) error) error) (err error) {
	hashes := hashSorter(a.m.scratch(), a.opt.limits.hashes)
	defer func() { err = errors.Join(err, hashes.Close()) }()
	var last uint64
	var hash urlHash
	named := false
	err = a.source().Walk(func(name func(uint64) (string, error)) error {
		return each(func(x byRef) error {
			if x.ref != last {
				url, err := name(x.ref)
				if err != nil {
					return err
				}
				last, named, hash = x.ref, url != "", hashOf(url)
			}
			if !named {
				return nil
			}
			return hashes.Add(byHash{hash, x.from})
		})
	})
	if err != nil {
		return err
	}
	to, err := a.m.create(file)
	if err != nil {
		return err
	}
	buf := bufio.NewWriterSize(to, 256<<10)
	var item []byte
	err = hashes.Each(ctx, func(x byHash) error {
		item = x.append(item[:0])
		_, err := buf.Write(item)
		return err
	})
	if err := errors.Join(err, buf.Flush(), to.Close()); err != nil {
		return err
	}
	return a.m.finished(file)
}

type hashRun struct {
	r     *bufio.Reader
	close func() error
	store int
	item  byHash
}

func (r *hashRun) Next() (more bool, err error) {
	r.item, err = readByHash(r.r)
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	return err == nil, err
}

func closeAll(runs []*hashRun) (err error) {
	for _, r := range slices.Backward(runs) {
		err = errors.Join(err, r.close())
	}
	return err
}
