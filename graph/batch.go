package graph

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"io"

	"golang.org/x/sync/errgroup"
)

const (
	batchBytes = 128 << 10 // of text, unless a line is longer
	batches    = 4         // under way: being read, cut, looked up, and one that waits
)

// batch is a part of an edge list: whole lines, and what they say. It goes from the
// goroutine that reads and decompresses to the one that cuts lines and hashes names, to
// the one that looks them up, and back.
type batch struct {
	text  []byte
	first int // number of its first line
	names []cutName
	edges []cutEdge
	err   error // what comes after its lines, io.EOF at the end
}

// cutName is a name in a batch's text, once for a line's source that the line before has.
type cutName struct {
	at, n uint32
	hash  uint64
}

// cutEdge is an edge between names of a batch, by their places.
type cutEdge struct{ src, dst uint32 }

func (l *batch) name(i int) []byte { return l.text[l.names[i].at:][:l.names[i].n] }

// edgeList adds the edges of a list of names. The first line that is no edge ends it,
// as does the place where the text breaks off, after all edges before it.
func (b *Builder) edgeList(ctx context.Context, text io.Reader, path string) error {
	free, read, cut := make(chan *batch, batches), make(chan *batch, batches), make(chan *batch, batches)
	for range batches {
		free <- &batch{}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return readBatches(ctx, text, path, free, read) })
	g.Go(func() error {
		for {
			l, err := receive(ctx, read)
			if err != nil {
				return err
			}
			b.cut(l, path)
			ended := l.err != nil // whose it is after it is sent, is not ours to ask
			if cut <- l; ended {
				return nil
			}
		}
	})
	g.Go(func() error {
		for {
			l, err := receive(ctx, cut)
			if err == nil {
				err = b.add(l)
			}
			if err == nil && l.err != nil {
				err = l.err
			}
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
			free <- l
		}
	})
	return g.Wait()
}

// receive waits for a batch. A channel has room for all of them, so that sending never
// waits.
func receive(ctx context.Context, from <-chan *batch) (*batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case l := <-from:
		return l, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// readBatches reads a text to its end or an error, which the last batch has.
func readBatches(ctx context.Context, text io.Reader, path string, free <-chan *batch, out chan<- *batch) error {
	var rest []byte // of the text before, the beginning of a line
	for line := 1; ; {
		l, err := receive(ctx, free)
		if err != nil {
			return err
		}
		l.first, l.err = line, nil
		l.text = append(l.text[:0], rest...)
		whole := 0 // bytes of whole lines
		for size := batchBytes; ; size = maxLineBytes {
			l.text, err = fill(text, l.text, size)
			if whole = bytes.LastIndexByte(l.text, '\n') + 1; whole > 0 || err != nil || size >= maxLineBytes {
				break
			}
		}
		line += bytes.Count(l.text[:whole], []byte("\n"))
		rest = append(rest[:0], l.text[whole:]...)
		switch {
		case err == io.EOF:
			whole, l.err = len(l.text), err // the last line needs no end
		case err != nil:
			l.err = readError(path, line, err)
		case whole == 0:
			l.err = longLine(path, line)
		}
		l.text = l.text[:whole]
		ended := l.err != nil
		if out <- l; ended {
			return nil
		}
	}
}

// fill reads on until there are size bytes.
func fill(r io.Reader, text []byte, size int) ([]byte, error) {
	if cap(text) < size {
		text = append(make([]byte, 0, size), text...)
	}
	for len(text) < size {
		n, err := r.Read(text[len(text):size])
		if text = text[:len(text)+n]; err != nil {
			return text, err
		}
	}
	return text, nil
}

// cut finds the edges of a batch, to the first line that is none.
func (b *Builder) cut(l *batch, path string) {
	l.names, l.edges = l.names[:0], l.edges[:0]
	last := -1 // the source of the line before
	for at, line := 0, l.first; at < len(l.text); line++ {
		end := len(l.text)
		if i := bytes.IndexByte(l.text[at:], '\n'); i >= 0 {
			end = at + i
		}
		text := trimEnd(l.text[at:end])
		from := at
		if at = end + 1; len(text) == 0 || text[0] == '#' {
			continue
		}
		src, dst, ok := cutNames(text)
		if !ok || len(text) > maxNameBytes {
			if err := b.noEdge(text, src, dst, ok); err != nil {
				l.err = fmt.Errorf("%s:%d: %w", path, line, err)
				return
			}
		}
		if last < 0 || !bytes.Equal(src, l.name(last)) {
			last = b.addName(l, src, from)
		}
		to := last
		if !bytes.Equal(src, dst) {
			to = b.addName(l, dst, from+len(src)+1)
		}
		l.edges = append(l.edges, cutEdge{uint32(last), uint32(to)})
	}
}

// noEdge says what is wrong with a line that was cut, or could not be; nil when it is
// only long.
func (b *Builder) noEdge(text, src, dst []byte, ok bool) error {
	if !ok {
		return fmt.Errorf("%w: %q; want two names with one tab between them", errLine, short(text))
	}
	return cmp.Or(b.tooLong(src), b.tooLong(dst))
}

// addName notes a name of a batch, and returns its place there.
func (b *Builder) addName(l *batch, name []byte, at int) int {
	l.names = append(l.names, cutName{uint32(at), uint32(len(name)), maphash.Bytes(b.dict.seed, name)})
	return len(l.names) - 1
}

// trimEnd cuts what ends a line.
func trimEnd(line []byte) []byte {
	for len(line) > 0 && (line[len(line)-1] == '\r' || line[len(line)-1] == '\n') {
		line = line[:len(line)-1]
	}
	return line
}

// add adds the edges of a batch.
func (b *Builder) add(l *batch) error {
	b.places = b.dict.findAll(b.places[:0], l)
	b.last.name = nil
	for _, e := range l.edges {
		if e.src == e.dst {
			b.stats.SelfLoops++
			continue
		}
		if err := b.pair(b.places[e.src], b.places[e.dst]); err != nil {
			return err
		}
	}
	return b.full()
}
