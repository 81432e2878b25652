package graph

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// errLine reports a line that is neither an edge nor a comment.
var errLine = errors.New("no edge")

// maxLineBytes bounds a line.
const maxLineBytes = 1 << 20

// BuildEdgeList builds the graph of an edge list (src TAB dst a line, # comments;
// .gz and .zst are decompressed) at out. The first edge says what the list holds:
// numbers below 2^32 − 1, which spaces may part too, or names. Beside
// X.edges.tsv a file X.urls.tsv (number TAB URL; either may be compressed) names
// the numbers. A line that is no edge ends it, with its place.
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

// addList adds the edges of a list of names.
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

// BuildNumbers builds at out the graph of the edges that each calls edge with, between numbers
// below 2^32 − 1. names is a file that names them (number TAB URL a line), "" where none does.
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

// namesBeside returns the file that names the numbers of an edge list, "" when
// there is none.
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

// beginsWithNumbers says whether the first edge is one of numbers.
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

// readNames yields the lines of a file of names.
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

// cutNumbers reads two numbers with a tab or spaces between them.
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

// eachLine calls do with every line but empty ones and comments, without its end;
// the slice is good until do returns. Errors tell file and line.
func eachLine(ctx context.Context, path string, do func(line []byte) error) error {
	f, err := openText(path)
	if err != nil {
		return err
	}
	return errors.Join(scanLines(ctx, f, path, do), f.Close())
}

// scanLines is eachLine of an opened file.
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

// readError says what to do about a file that cannot be read on.
func readError(path string, n int, err error) error {
	if errors.Is(err, bufio.ErrBufferFull) {
		return longLine(path, n)
	}
	return fmt.Errorf("%s:%d: the file is truncated or damaged here (%w); fetch it again", path, n, err)
}

func longLine(path string, n int) error {
	return fmt.Errorf("%s:%d: %w: a line of more than %d bytes", path, n, errLine, maxLineBytes)
}

// short is as much of a line as an error should quote.
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
