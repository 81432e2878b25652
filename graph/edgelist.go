package graph

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"fossick/internal/reading"
)

// errLine reports a line that is neither an edge nor a comment.
var errLine = errors.New("no edge")

const maxLineBytes = 1 << 20

// BuildEdgeList builds at out the graph of an edge list (src TAB dst a line, # comments; .gz and
// .zst are decompressed). The first edge decides what the list holds: numbers below 2^32 − 1, which
// spaces may separate too, or names. Beside X.edges.tsv, a file X.urls.tsv (number TAB URL) names
// the numbers. A malformed line ends the build with its place.
func BuildEdgeList(ctx context.Context, list, out string, opt BuildOptions) (Stats, error) {
	names, err := namesBeside(list)
	if err != nil {
		return Stats{}, err
	}
	numbers := names != ""
	if !numbers {
		if numbers, err = beginsWithNumbers(list); err != nil {
			return Stats{}, err
		}
	}
	if numbers {
		return buildNumbers(ctx, list, names, out, opt)
	}
	b, err := NewBuilder(out, opt)
	if err != nil {
		return Stats{}, err
	}
	if err := b.addList(ctx, list); err != nil {
		return Stats{}, errors.Join(err, b.Close())
	}
	stats, err := b.Finish(ctx)
	return stats, errors.Join(err, b.Close())
}

func (b *Builder) addList(ctx context.Context, list string) error {
	f, err := openText(list)
	if err != nil {
		return err
	}
	return errors.Join(b.edgeList(ctx, f, list), f.Close())
}

func buildNumbers(ctx context.Context, list, names, out string, opt BuildOptions) (Stats, error) {
	return BuildNumbers(ctx, names, out, opt, func(edge func(src, dst uint32) error) error {
		return eachLine(ctx, list, func(line []byte) error {
			src, dst, ok := cutNumbers(line)
			if !ok {
				return fmt.Errorf("%w: %q; want two numbers below 2^32 − 1 with a tab between them, as in the lines before", errLine, short(line))
			}
			return edge(src, dst)
		})
	})
}

// BuildNumbers builds at out the graph of the edges that each reports, between numbers below 2^32 −
// 1. names is a file with a number, a tab and a URL a line, or "".
func BuildNumbers(ctx context.Context, names, out string, opt BuildOptions, each func(edge func(src, dst uint32) error) error) (Stats, error) {
	b, err := newNumbered(out, opt)
	if err != nil {
		return Stats{}, err
	}
	if names != "" {
		err = b.Names(ctx, readNames(ctx, names))
	}
	if err == nil {
		err = each(b.Edge)
	}
	if err != nil {
		return Stats{}, errors.Join(err, b.Close())
	}
	stats, err := b.Finish(ctx)
	return stats, errors.Join(err, b.Close())
}

func namesBeside(list string) (string, error) {
	stem, _, ok := strings.Cut(filepath.Base(list), ".edges.tsv")
	if !ok {
		return "", nil
	}
	for _, ending := range []string{"", ".zst", ".gz"} {
		path := filepath.Join(filepath.Dir(list), stem+".urls.tsv"+ending)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		} else if !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
	}
	return "", nil
}

func beginsWithNumbers(list string) (numbers bool, err error) {
	found := errors.New("found")
	err = eachLine(context.Background(), list, func(line []byte) error {
		_, _, numbers = cutNumbers(line)
		return found
	})
	if errors.Is(err, found) {
		err = nil
	}
	return numbers, err
}

func readNames(ctx context.Context, path string) iter.Seq2[numberedName, error] {
	return func(yield func(numberedName, error) bool) {
		stopped := errors.New("stopped")
		err := eachLine(ctx, path, func(line []byte) error {
			number, name, ok := cutNames(line)
			id, isID := parseID(number)
			if !ok || !isID {
				return fmt.Errorf("%w: %q; want a number below 2^32 − 1, a tab and a URL", errLine, short(line))
			}
			if !yield(numberedName{id, string(name)}, nil) {
				return stopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, stopped) {
			yield(numberedName{}, err)
		}
	}
}

// cutNames cuts a line at its only tab.
func cutNames(line []byte) (src, dst []byte, ok bool) {
	i := bytes.IndexByte(line, '\t')
	if i <= 0 || i == len(line)-1 {
		return nil, nil, false
	}
	src, dst = line[:i], line[i+1:]
	return src, dst, bytes.IndexByte(dst, '\t') < 0
}

func cutNumbers(line []byte) (src, dst uint32, ok bool) {
	i := 0
	for i < len(line) && line[i] != '\t' && line[i] != ' ' {
		i++
	}
	j := i
	for j < len(line) && (line[j] == '\t' || line[j] == ' ') {
		j++
	}
	src, ok = parseID(line[:i])
	if !ok {
		return 0, 0, false
	}
	dst, ok = parseID(bytes.TrimRight(line[j:], " "))
	return src, dst, ok
}

// eachLine calls do with every line but empty ones and comments; the slice is valid until do
// returns. Errors name file and line.
func eachLine(ctx context.Context, path string, do func(line []byte) error) error {
	f, err := openText(path)
	if err != nil {
		return err
	}
	return errors.Join(scanLines(ctx, f, path, do), f.Close())
}

func scanLines(ctx context.Context, f io.Reader, path string, do func(line []byte) error) error {
	r := bufio.NewReaderSize(f, maxLineBytes)
	for n := 1; ; n++ {
		if n%(1<<14) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line, err := r.ReadSlice('\n')
		if err != nil && err != io.EOF {
			return readError(path, n, err)
		}
		if l := trimEnd(line); len(l) > 0 && l[0] != '#' {
			if err := do(l); err != nil {
				return fmt.Errorf("%s:%d: %w", path, n, err)
			}
		}
		if err == io.EOF {
			return nil
		}
	}
}

func readError(path string, n int, err error) error {
	if errors.Is(err, bufio.ErrBufferFull) {
		return longLine(path, n)
	}
	return fmt.Errorf("%s:%d: the file is truncated or damaged here (%w); fetch it again", path, n, err)
}

func longLine(path string, n int) error {
	return fmt.Errorf("%s:%d: %w: a line of more than %d bytes", path, n, errLine, maxLineBytes)
}

func short(line []byte) []byte {
	if len(line) > 80 {
		return append(line[:77:77], "..."...)
	}
	return line
}

// WriteEdges writes the edges as text: source TAB target a line, by number.
func (g *Graph) WriteEdges(ctx context.Context, w io.Writer) error {
	b := bufio.NewWriter(w)
	var line []byte
	err := g.Scan(0, g.Nodes(), func(v uint32, links []uint32) error {
		for _, to := range links {
			line = append(strconv.AppendUint(line[:0], uint64(v), 10), '\t')
			line = append(strconv.AppendUint(line, uint64(to), 10), '\n')
			if _, err := b.Write(line); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
	return errors.Join(err, b.Flush())
}

const (
	batchBytes = 128 << 10 // of text, unless a line is longer
	batches    = 4         // under way: being read, cut, looked up, and one that waits
)

// batch is some whole lines of an edge list. It goes from the goroutine that reads and decompresses
// to the one that cuts lines and hashes names, to the one that looks names up, and back.
type batch struct {
	text  []byte
	first int // number of its first line
	names []cutName
	edges []cutEdge
	err   error // what comes after its lines, io.EOF at the end
}

// cutName is a name in a batch's text; a source that repeats the line before is kept once.
type cutName struct {
	at, n uint32
	hash  uint64
}

type cutEdge struct{ src, dst uint32 }

func (l *batch) name(i int) []byte { return l.text[l.names[i].at:][:l.names[i].n] }

// edgeList adds the edges of a list of names, up to the first malformed line.
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

// receive waits for a batch. Each channel has room for all batches, so sending never waits.
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

// readBatches reads a text to its end or an error, which the last batch carries.
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

// noEdge explains a malformed line; it returns nil for a valid but long one.
func (b *Builder) noEdge(text, src, dst []byte, ok bool) error {
	if !ok {
		return fmt.Errorf("%w: %q; want two names with one tab between them", errLine, short(text))
	}
	return cmp.Or(b.tooLong(src), b.tooLong(dst))
}

func (b *Builder) addName(l *batch, name []byte, at int) int {
	l.names = append(l.names, cutName{uint32(at), uint32(len(name)), maphash.Bytes(b.dict.seed, name)})
	return len(l.names) - 1
}

func trimEnd(line []byte) []byte {
	for len(line) > 0 && (line[len(line)-1] == '\r' || line[len(line)-1] == '\n') {
		line = line[:len(line)-1]
	}
	return line
}

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

func openText(path string) (io.ReadCloser, error) {
	f, err := reading.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Size() == 0 && strings.HasSuffix(path, ".zst") {
		// The decoder takes an empty file for the end of a sound archive.
		return nil, errors.Join(fmt.Errorf("%s: %w; the file is empty, fetch it again", path, io.ErrUnexpectedEOF), f.Close())
	}
	return reading.Unpacked(f, path, 0)
}

// IsFile reports whether a readable file begins like a graph file.
func IsFile(path string) bool {
	f, err := reading.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() // opened for reading: nothing can be lost
	head := make([]byte, len(magic))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == magic
}
