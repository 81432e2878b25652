package convert

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"fossick/internal/extsort"
)

// byRef is a link by the number of its target.
type byRef struct {
	ref  uint64
	from uint32 // number of the page
}

// byHash is a link by its target's URL, or a redirect or duplicate by its own.
type byHash struct {
	hash urlHash
	from uint32 // number of the page that has the link, or that it stands for
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

func refSorter(dir string, limit int) *extsort.Sorter[byRef] {
	return extsort.New(extsort.Options[byRef]{
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

func hashSorter(dir string, limit int) *extsort.Sorter[byHash] {
	return extsort.New(extsort.Options[byHash]{
		Dir: dir, Limit: limit, Unique: true, Compare: compareHash,
		Append: func(dst []byte, _, x byHash) []byte { return x.append(dst) },
		Read:   func(r *bufio.Reader, _ byHash) (byHash, error) { return readByHash(r) },
	})
}

// Files of a store's links and of its redirects and duplicates, byHash in order.
func linksFile(store int) string   { return storeFolder(store) + "links" }
func aliasesFile(store int) string { return storeFolder(store) + "aliases" }

// link writes the links of the store's pages by their targets' URLs, and which URLs stand for
// its pages.
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
	pageOf := map[uint64]uint32{} // of what aliases stand for: number of the page, 0 of none
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

// name writes a file of what each yields in the order of refs, by the hashes of their URLs.
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

// hashRun reads such a file: a cursor of extsort.Merge.
type hashRun struct {
	r     *bufio.Reader
	close func() error
	store int
	item  byHash
}

// Next goes to the next item.
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
