package graph

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"os"
	"slices"

	"fossick/internal/fileio"
)

// dictionary numbers names in URL order, even if they exceed memory. A run holds the names that fit; it is
// written sorted by key, with each name's place in input order. Merging the runs numbers the names, and
// yields a table from place to number for each run.
type dictionary struct {
	dir     string
	apart   bool         // do not merge equal names
	seed    maphash.Seed // shared by all runs
	names   interned
	bytes   int // estimated memory of names
	runs    []*dictRun
	writing chan error // result of writing the last run; nil if written
	merged  *os.File   // all keys
}

func newDictionary(dir string) dictionary {
	seed := maphash.MakeSeed()
	return dictionary{dir: dir, seed: seed, names: interned{seed: seed}}
}

type dictRun struct {
	n       int
	keys    *os.File // sorted: length (varint), bytes
	places  *os.File // input place of each key, 32 bits
	numbers *os.File // node number of each key, 32 bits, after the merge
}

func (d *dictionary) add(name []byte) uint32 {
	d.bytes += nameCost(name)
	return d.names.add(name)
}

// find returns the place of a name in the run, and adds the name if it is new.
func (d *dictionary) find(name []byte) uint32 {
	place, fresh := d.names.find(name)
	if fresh {
		d.bytes += nameCost(name)
	}
	return place
}

// nameCost estimates a name's memory in bytes: name, key, place, and 1.33 to 2.67 hash slots.
func nameCost(name []byte) int { return 2*len(name) + 72 }

// flush ends the run. A run is sorted and written while the next one fills, so at most two are in memory.
func (d *dictionary) flush() error {
	if d.names.len() == 0 {
		return nil
	}
	if err := d.wait(); err != nil {
		return err
	}
	r, names, done := &dictRun{n: d.names.len()}, d.names, make(chan error, 1)
	d.runs, d.writing = append(d.runs, r), done
	d.names, d.bytes = interned{seed: d.seed}, 0
	go func() { done <- r.write(d.dir, &names) }()
	return nil
}

func (d *dictionary) wait() error {
	if d.writing == nil {
		return nil
	}
	err := <-d.writing
	d.writing = nil
	return err
}

func (r *dictRun) write(dir string, names *interned) (err error) {
	keys, order := sortNames(names)
	if r.keys, err = writeTemp(dir, "names-", func(w *bufio.Writer) error {
		for _, place := range order {
			if err := writeKey(w, keys[place]); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	r.places, err = writeTemp(dir, "places-", func(w *bufio.Writer) error {
		return binary.Write(w, binary.LittleEndian, order)
	})
	return err
}

// merge numbers all names from 0 and calls each with every number and key.
func (d *dictionary) merge(ctx context.Context, each func(node uint32, key []byte) error) (nodes int, err error) {
	if err := d.wait(); err != nil {
		return 0, err
	}
	var runs []*nameCursor
	for i, r := range d.runs {
		if _, err := r.keys.Seek(0, io.SeekStart); err != nil {
			return 0, fmt.Errorf("merging names: %w", err)
		}
		if r.numbers, err = os.CreateTemp(d.dir, "numbers-"); err != nil {
			return 0, fmt.Errorf("merging names: %w", err)
		}
		runs = append(runs, &nameCursor{run: i, r: bufio.NewReaderSize(r.keys, 1<<16), w: bufio.NewWriterSize(r.numbers, 1<<16)})
	}
	d.merged, err = writeTemp(d.dir, "merged-", func(w *bufio.Writer) (err error) {
		nodes, err = d.mergeRuns(ctx, runs, w, each)
		return err
	})
	for _, c := range runs {
		err = errors.Join(err, c.w.Flush())
	}
	return nodes, err
}

func (d *dictionary) mergeRuns(ctx context.Context, runs []*nameCursor, out *bufio.Writer, each func(uint32, []byte) error) (int, error) {
	nodes := 0
	var last []byte
	err := fileio.Merge(ctx, runs, (*nameCursor).before, func(c *nameCursor) error {
		if d.apart || nodes == 0 || !bytes.Equal(c.key, last) {
			if nodes++; nodes > maxNodes {
				return fmt.Errorf("more than %d nodes: this format holds no more", maxNodes)
			}
			last = append(last[:0], c.key...)
			if err := errors.Join(writeKey(out, last), each(uint32(nodes-1), last)); err != nil {
				return err
			}
		}
		_, err := c.w.Write(binary.LittleEndian.AppendUint32(c.w.AvailableBuffer(), uint32(nodes-1)))
		return err
	})
	return nodes, err
}

func (d *dictionary) table(run int) ([]uint32, error) {
	r := d.runs[run]
	table := make([]uint32, r.n)
	places, err1 := readNumbers(r.places)
	numbers, err2 := readNumbers(r.numbers)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	if len(places) != r.n || len(numbers) != r.n {
		return nil, fmt.Errorf("merging names: %d places and %d numbers of %d names", len(places), len(numbers), r.n)
	}
	for i, place := range places {
		table[place] = numbers[i]
	}
	return table, nil
}

func (d *dictionary) keys() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if _, err := d.merged.Seek(0, io.SeekStart); err != nil {
			yield(nil, fmt.Errorf("names: %w", err))
			return
		}
		c := &nameCursor{r: bufio.NewReaderSize(d.merged, 1<<18)}
		for {
			more, err := c.Next()
			if !more && err == nil || !yield(c.key, err) || err != nil {
				return
			}
		}
	}
}

func (d *dictionary) close() error {
	err := d.wait()
	files := []*os.File{d.merged}
	for _, r := range d.runs {
		files = append(files, r.keys, r.places, r.numbers)
	}
	for _, f := range files {
		if f != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}
	d.merged, d.runs, d.names = nil, nil, interned{}
	return err
}

// writeTemp writes a scratch file. It returns the file even after an error.
func writeTemp(dir, name string, write func(w *bufio.Writer) error) (*os.File, error) {
	f, err := os.CreateTemp(dir, name)
	if err != nil {
		return nil, fmt.Errorf("scratch file: %w", err)
	}
	w := bufio.NewWriterSize(f, 1<<18)
	err = write(w)
	if flushErr := w.Flush(); flushErr != nil {
		err = errors.Join(err, fmt.Errorf("scratch file: %w; free some space in %s", flushErr, dir))
	}
	return f, err
}

func readNumbers(f *os.File) ([]uint32, error) {
	info, err := f.Stat()
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, fmt.Errorf("scratch file: %w", err)
	}
	xs := make([]uint32, info.Size()/4)
	if err := binary.Read(bufio.NewReaderSize(f, 1<<18), binary.LittleEndian, xs); err != nil && len(xs) > 0 {
		return nil, fmt.Errorf("scratch file: %w", eof(err))
	}
	return xs, nil
}

type nameCursor struct {
	run int
	r   *bufio.Reader
	w   *bufio.Writer
	key []byte
}

func (c *nameCursor) Next() (more bool, err error) {
	n, err := binary.ReadUvarint(c.r)
	if err == io.EOF {
		return false, nil
	}
	if err == nil {
		c.key = slices.Grow(c.key[:0], int(n))[:n]
		_, err = io.ReadFull(c.r, c.key)
	}
	if err != nil {
		return false, fmt.Errorf("merging names: %w", eof(err))
	}
	return true, nil
}

func (c *nameCursor) before(d *nameCursor) bool {
	order := bytes.Compare(c.key, d.key)
	return order < 0 || order == 0 && c.run < d.run
}

func writeKey(w *bufio.Writer, key []byte) error {
	if _, err := w.Write(binary.AppendUvarint(w.AvailableBuffer(), uint64(len(key)))); err != nil {
		return err
	}
	_, err := w.Write(key)
	return err
}

// interned numbers names in input order. It stores them in pointer-free chunks and finds them by a hash
// table of 8 bytes per slot: a third of the memory of a map of strings, and no work for the garbage
// collector. Not safe for concurrent use.
type interned struct {
	chunks [][]byte
	at     []uint64 // per name: chunk << 32 | offset; the length is stored there

	seed  maphash.Seed // same for all calls of find
	slots []uint64     // upper half of the hash, then number + 1 in 32 bits; 0 is free
}

const chunkBytes = 1 << 20

func (t *interned) len() int { return len(t.at) }

func (t *interned) name(i uint32) []byte {
	at := t.at[i]
	c := t.chunks[at>>32][uint32(at):]
	n := binary.LittleEndian.Uint32(c)
	return c[4 : 4+n : 4+n]
}

// add appends a name, even a duplicate, and returns its number.
func (t *interned) add(name []byte) uint32 {
	last := len(t.chunks) - 1
	if last < 0 || cap(t.chunks[last])-len(t.chunks[last]) < 4+len(name) {
		t.chunks = append(t.chunks, make([]byte, 0, max(chunkBytes, 4+len(name))))
		last++
	}
	c := t.chunks[last]
	t.at = append(t.at, uint64(last)<<32|uint64(len(c)))
	c = binary.LittleEndian.AppendUint32(c, uint32(len(name)))
	t.chunks[last] = append(c, name...)
	return uint32(len(t.at) - 1)
}

// find returns the number of a name; fresh reports that it was just added.
func (t *interned) find(name []byte) (i uint32, fresh bool) {
	hash := maphash.Bytes(t.seed, name)
	if 4*len(t.at) >= 3*len(t.slots) {
		t.grow()
	}
	mask := uint64(len(t.slots) - 1)
	for s := hash & mask; ; s = (s + 1) & mask {
		slot := t.slots[s]
		if slot == 0 {
			i = t.add(name)
			t.slots[s] = hash>>32<<32 | uint64(i) + 1
			return i, true
		}
		if slot>>32 == hash>>32 {
			if i = uint32(slot) - 1; bytes.Equal(t.name(i), name) {
				return i, false
			}
		}
	}
}

func (t *interned) grow() {
	t.slots = make([]uint64, max(1<<10, 2*len(t.slots)))
	mask := uint64(len(t.slots) - 1)
	for i := range t.at {
		hash := maphash.Bytes(t.seed, t.name(uint32(i)))
		s := hash & mask
		for t.slots[s] != 0 {
			s = (s + 1) & mask
		}
		t.slots[s] = hash>>32<<32 | uint64(i) + 1
	}
}

// headed is a key's place with the 8 bytes being compared.
type headed struct {
	head  uint64
	place uint32
	short bool // the key ends within head
}

func sortNames(names *interned) (keys [][]byte, order []uint32) {
	keys = make([][]byte, names.len())
	var all []byte
	for i := range keys {
		name := names.name(uint32(i))
		if cap(all)-len(all) < 2*len(name)+32 {
			all = make([]byte, 0, max(1<<20, 4*len(name)))
		}
		at := len(all)
		all = appendKey(all, name)
		keys[i] = all[at:len(all):len(all)]
	}
	return keys, sortKeys(keys)
}

// sortKeys returns the places of keys in order; ties go by place. Keys of one host share prefixes, so it
// sorts by 8 bytes at a time rather than by whole keys.
func sortKeys(keys [][]byte) []uint32 {
	all := make([]headed, len(keys))
	for i := range all {
		all[i].place = uint32(i)
	}
	sortFrom(all, keys, 0)
	order := make([]uint32, len(keys))
	for i := range all {
		order[i] = all[i].place
	}
	return order
}

func sortFrom(all []headed, keys [][]byte, depth int) {
	for len(all) > 1 {
		for i := range all {
			all[i].head, all[i].short = headOf(keys[all[i].place], depth)
		}
		if !slices.ContainsFunc(all, func(h headed) bool { return h.head != all[0].head || h.short }) {
			depth += 8 // all share these bytes
			continue
		}
		slices.SortFunc(all, func(a, b headed) int {
			if a.head != b.head {
				return cmp.Compare(a.head, b.head)
			}
			// Equal bytes, or padding: the shorter key is first.
			if a.short || b.short {
				if c := cmp.Compare(len(keys[a.place]), len(keys[b.place])); c != 0 {
					return c
				}
			}
			return cmp.Compare(a.place, b.place)
		})
		for from := 0; from < len(all); {
			to := from + 1
			for to < len(all) && all[to].head == all[from].head {
				to++
			}
			for from < to && all[from].short { // short keys come first and are already sorted
				from++
			}
			sortFrom(all[from:to], keys, depth+8)
			from = to
		}
		return
	}
}

// headOf returns the 8 bytes from depth on, zero-padded, and whether the key has fewer.
func headOf(key []byte, depth int) (head uint64, short bool) {
	if key = key[min(depth, len(key)):]; len(key) >= 8 {
		return binary.BigEndian.Uint64(key), false
	}
	for i := range key {
		head |= uint64(key[i]) << (56 - 8*i)
	}
	return head, true
}
