package tables

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"fossick/internal/fileio"
)

type name struct {
	hash   urlHash
	alias  bool // the URL is an alias of the page
	store  uint32
	number uint32
}

func compareNames(a, b name) int {
	return cmp.Or(bytes.Compare(a.hash[:], b.hash[:]), cmp.Compare(a.place(), b.place()), cmp.Compare(a.number, b.number))
}

func (n name) place() uint64 {
	if n.alias {
		return 1<<32 | uint64(n.store)
	}
	return uint64(n.store)
}

func nameSorter(dir string, limit int) *fileio.Sorter[name] {
	return fileio.NewSorter(fileio.SortOptions[name]{
		Dir: dir, Limit: limit, Compare: compareNames,
		Append: func(dst []byte, _, n name) []byte {
			dst = append(dst, n.hash[:]...)
			return binary.AppendUvarint(binary.AppendUvarint(dst, n.place()), uint64(n.number))
		},
		Read: func(r *bufio.Reader, _ name) (n name, err error) {
			if _, err := io.ReadFull(r, n.hash[:]); err != nil {
				return n, err
			}
			place, err := binary.ReadUvarint(r)
			if err != nil {
				return n, err
			}
			number, err := binary.ReadUvarint(r)
			n.alias, n.store, n.number = place>>32 == 1, uint32(place), uint32(number)
			return n, err
		},
	})
}

const none = 1<<32 - 1

// owners holds the page ids, and the first store of each page. It takes 4 bytes a stored page.
type owners struct {
	names *fileio.Sorter[name]
	ids   [][]uint32 // by store and page number; a repeated page has the id of its first record
	owned [][]uint64 // bit set by store and page number: the first record of the page
	total uint64
	again uint64 // repeated pages
}

func (m *manifest) number(ctx context.Context, opt *Options) (*owners, error) {
	o := &owners{names: nameSorter(m.scratch(), opt.limits.names)}
	if err := o.fill(ctx, m); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

func (o *owners) fill(ctx context.Context, m *manifest) error {
	for i := range m.Stores {
		_, last := m.chunks(i)
		ids := make([]uint32, last+1)
		for n := range ids {
			ids[n] = none
		}
		o.ids, o.owned = append(o.ids, ids), append(o.owned, make([]uint64, last/64+1))
		err := m.eachRecord(ctx, i, func(r *record) error {
			return o.names.Add(name{hash: hashOf(r.URL), store: uint32(i), number: r.Number})
		})
		if err != nil {
			return err
		}
		if err := o.addAliases(m, i); err != nil {
			return err
		}
	}
	counts := make([]uint64, len(m.Stores))
	err := o.eachPage(ctx, func(first, n name) error {
		if n != first {
			o.again++
			return nil
		}
		o.owned[n.store][n.number/64] |= 1 << (n.number % 64)
		counts[n.store]++
		return nil
	})
	if err != nil {
		return err
	}
	ranges, err := idRanges(counts)
	if err != nil {
		return err
	}
	for i, r := range ranges {
		next := r.First
		for n := range o.ids[i] {
			if o.owns(i, uint32(n)) {
				o.ids[i][n] = uint32(next)
				next++
			}
		}
		o.total += r.Count
	}
	if o.again == 0 {
		return nil
	}
	return o.eachPage(ctx, func(first, n name) error {
		o.ids[n.store][n.number] = o.ids[first.store][first.number]
		return nil
	})
}

func (o *owners) addAliases(m *manifest, store int) error {
	r, err := m.openRun(store, aliasesFile(store))
	if err != nil {
		return err
	}
	for {
		more, err := r.Next()
		if err == nil && more {
			err = o.names.Add(name{hash: r.item.hash, alias: true, store: uint32(store), number: r.item.from})
		}
		if err != nil || !more {
			return errors.Join(err, r.close())
		}
	}
}

// eachPage calls do with each stored page, by URL, and the first page with that URL.
func (o *owners) eachPage(ctx context.Context, do func(first, n name) error) error {
	var first name
	return o.names.Each(ctx, func(n name) error {
		if n.alias {
			return nil
		}
		if n.hash != first.hash || first.number == 0 { // pages are numbered from 1
			first = n
		}
		return do(first, n)
	})
}

func (o *owners) owns(store int, number uint32) bool {
	return o.owned[store][number/64]>>(number%64)&1 == 1
}

func (o *owners) Close() error { return o.names.Close() }

func (m *manifest) openRun(store int, file string) (*hashRun, error) {
	f, err := fileio.Open(filepath.Join(m.dir, filepath.FromSlash(file)))
	if err != nil {
		return nil, err
	}
	return &hashRun{r: bufio.NewReaderSize(f, 256<<10), close: f.Close, store: store}, nil
}

// idRange is one agent's page ids, from First to First+Count−1.
type idRange struct{ First, Count uint64 }

// maxPages is the number of page ids: 32 bits, less the value that graphs reserve.
const maxPages = 1<<32 - 1

// idRanges assigns consecutive ranges of page ids, from 0, to the agents in order (paper C3).
func idRanges(counts []uint64) ([]idRange, error) {
	ranges := make([]idRange, 0, len(counts))
	next := uint64(0)
	for _, n := range counts {
		if n > maxPages-next {
			return nil, fmt.Errorf("more than %d pages; convert fewer stores together", uint64(maxPages))
		}
		ranges = append(ranges, idRange{next, n})
		next += n
	}
	return ranges, nil
}
