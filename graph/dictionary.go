package graph

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"fossick/internal/extsort"
	"hash/maphash"
	"io"
	"iter"
	"os"
)

// dictionary numbers names in URL order, more of them than memory has room for.
// A run is what memory holds: its names, sorted by key, go to a file, with their
// places before the sort. The merge of all runs numbers the names; for each run a
// table from place to number comes out.
type dictionary struct {
	dir     string
	apart   bool         // equal names stay apart
	seed    maphash.Seed // of the hashes by which names are found
	names   interned
	bytes   int // about what names take
	runs    []*dictRun
	writing chan error // of the last run; nil when it is written
	merged  *os.File   // all keys
}

func newDictionary(dir string) dictionary {
	seed := maphash.MakeSeed()
	return dictionary{dir: dir, seed: seed, names: interned{seed: seed}}
}

// dictRun is a run on disk.
type dictRun struct {
	n       int
	keys    *os.File // sorted: length (varint), bytes
	places  *os.File // of the names in that order, 32 bits each
	numbers *os.File // likewise, after the merge
}

// add takes a name and returns its place in the run.
func (d *dictionary) add(name []byte) uint32 {
	d.bytes += nameCost(name)
	return d.names.add(name)
}

// find is add for a name that may be in the run already; it then has that place.
func (d *dictionary) find(name []byte) uint32 {
	place, fresh := d.names.find(name)
	if fresh {
		d.bytes += nameCost(name)
	}
	return place
}

// findAll appends the places of a batch's names to dst.
func (d *dictionary) findAll(dst []uint32, l *batch) []uint32 {
	for i, n := range l.names {
		place, fresh := d.names.findHashed(l.name(i), n.hash)
		if fresh {
			d.bytes += nameCost(l.name(i))
		}
		dst = append(dst, place)
	}
	return dst
}

// nameCost is about what a name takes in memory. That is its bytes and those of
// its key when the run is sorted, its place, and its slots in the table (from
// 1.33 to 2.67 of them). Sorting takes some too.
func nameCost(name []byte) int { return 2*len(name) + 72 }

// flush ends the run. It is sorted and written while the next one is filled; so there
// are two in memory at most.
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

// wait ends when the run before is written.
func (d *dictionary) wait() error {
	if d.writing == nil {
		return nil
	}
	err := <-d.writing
	d.writing = nil
	return err
}

// write sorts names and writes them.
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

// merge numbers all names: it calls each with the key of every number, from 0.
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
	err := extsort.Merge(ctx, runs, (*nameCursor).before, func(c *nameCursor) error {
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

// table returns the number of each place of a run, after the merge.
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

// keys yields all keys after the merge.
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

// close removes the files.
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

// writeTemp makes a file of what write writes. The file is there on an error too.
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

// readNumbers reads a file of 32-bit numbers.
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
