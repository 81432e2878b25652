package convert

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"iter"
	"slices"

	"fossick/export/convert/links"
	"fossick/internal/extsort"
)

// linkFile is the link file.
const linkFile = "links.bin"

// edgeSorter sorts links between ids, source before target, each once.
func edgeSorter(dir string, limit int) *extsort.Sorter[uint64] {
	return extsort.New(extsort.Options[uint64]{
		Dir: dir, Limit: limit, Unique: true, Sort: slices.Sort[[]uint64],
		Compare: func(a, b uint64) int {
			if a < b {
				return -1
			}
			return int(min(a-b, 1))
		},
		Append: func(dst []byte, before, x uint64) []byte { return binary.AppendUvarint(dst, x-before) },
		Read: func(r *bufio.Reader, before uint64) (uint64, error) {
			gap, err := binary.ReadUvarint(r)
			return before + gap, err
		},
	})
}

// links writes the links of all stores between ids.
func (m *manifest) links(ctx context.Context, o *owners, opt *Options) (err error) {
	edges := edgeSorter(m.scratch(), opt.limits.edges)
	defer func() { err = errors.Join(err, edges.Close()) }()
	if err := m.join(ctx, o, edges.Add); err != nil {
		return err
	}
	rows, err := m.table(linksTable)
	if err != nil {
		return err
	}
	to, err := m.create(linkFile)
	if err != nil {
		return errors.Join(err, rows.end())
	}
	h, err := m.writeLinks(ctx, o, edges, to, rows, opt.Did)
	if err := errors.Join(err, to.Close(), rows.end()); err != nil {
		return err
	}
	if err := m.finished(linkFile, linksTable.File()); err != nil {
		return err
	}
	m.Counts.Links = h.Links
	return m.save()
}

// join calls add with each link between pages that have ids, as source << 32 | target, in
// the order of the targets' hashes. A link of a page that an earlier store has is that store's
// to tell.
func (m *manifest) join(ctx context.Context, o *owners, add func(edge uint64) error) (err error) {
	var runs []*hashRun
	defer func() { err = errors.Join(err, closeAll(runs)) }()
	for i := range m.Stores {
		r, err := m.openRun(i, linksFile(i))
		if err != nil {
			return err
		}
		runs = append(runs, r)
	}
	targets, stop := iter.Pull2(o.targets(ctx))
	defer stop()
	at, err, more := targets()
	return extsort.Merge(ctx, runs, func(a, b *hashRun) bool { return bytes.Compare(a.item.hash[:], b.item.hash[:]) < 0 }, func(r *hashRun) error {
		for more && err == nil && bytes.Compare(at.hash[:], r.item.hash[:]) < 0 {
			at, err, more = targets()
		}
		if err != nil || !more || at.hash != r.item.hash || !o.owns(r.store, r.item.from) {
			return err
		}
		from, to := o.ids[r.store][r.item.from], o.ids[at.store][at.number]
		if from == to {
			return nil
		}
		return add(uint64(from)<<32 | uint64(to))
	})
}

// targets yields for each URL the first that is known of it, in order.
func (o *owners) targets(ctx context.Context) iter.Seq2[name, error] {
	return func(yield func(name, error) bool) {
		enough := errors.New("enough")
		var last name
		err := o.names.Each(ctx, func(n name) error {
			if n.hash == last.hash && last.number != 0 {
				return nil
			}
			if last = n; !yield(n, nil) {
				return enough
			}
			return nil
		})
		if err != nil && !errors.Is(err, enough) {
			yield(name{}, err)
		}
	}
}

// writeLinks writes the sorted links to the link file and to the table.
func (m *manifest) writeLinks(ctx context.Context, o *owners, edges *extsort.Sorter[uint64], to *output, rows *table, did func(int)) (h links.Header, err error) {
	w, err := links.NewWriter(to, o.total)
	if err != nil {
		return h, err
	}
	var list []uint32
	source := uint32(0)
	err = edges.Each(ctx, func(edge uint64) error {
		if next := uint32(edge >> 32); next != source {
			if err := w.Add(source, list); err != nil {
				return err
			}
			source, list = next, list[:0]
		}
		list = append(list, uint32(edge))
		rows.Int(int64(edge >> 32))
		rows.Int(int64(uint32(edge)))
		did(1)
		return nil
	})
	if err == nil {
		err = w.Add(source, list)
	}
	if err != nil {
		return h, err
	}
	return w.Close()
}
