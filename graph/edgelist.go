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

	"fossick/internal/fileio"
)

var errLine = errors.New("no edge")

const maxLineBytes = 1 << 20

// BuildEdgeList builds a graph at out from an edge list: src TAB dst per line, # comments, .gz and .zst
// decompressed. The first edge decides whether ends are numbers below 2^32 − 1, which spaces may also
// separate, or names. If X.urls.tsv (number TAB URL) lies beside X.edges.tsv, it names the numbers. A
// malformed line is an error with its position.
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
	return eachLine(ctx, list, func(line []byte) error {
		src, dst, ok := cutNames(line)
		if !ok {
			return fmt.Errorf("%w: %q; want two names with one tab between them", errLine, short(line))
		}
		return b.Edge(src, dst)
	})
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

// BuildNumbers builds a graph at out from the edges that each passes to edge, with numbers below 2^32 − 1.
// names is a file of number TAB URL lines, or "".
func BuildNumbers(ctx context.Context, names, out string, opt BuildOptions, each func(edge func(src, dst uint32) error) error) (Stats, error) {
	b, err := newNumbered(out, opt)
	if err != nil {
		return Stats{}, err
	}
	if names != "" {
		err = b.Names(ctx, readNames(ctx, names))
	}
	if err == nil {
		err = each(b.edge)
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

// eachLine calls do with every line except empty ones and comments; the slice is valid until do returns.
// Errors have file and line.
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
		return fmt.Errorf("%s:%d: %w: a line of more than %d bytes", path, n, errLine, maxLineBytes)
	}
	return fmt.Errorf("%s:%d: the file is truncated or damaged here (%w); fetch it again", path, n, err)
}

func short(line []byte) []byte {
	if len(line) > 80 {
		return append(line[:77:77], "..."...)
	}
	return line
}

// WriteEdges writes each edge as a line source TAB target, by number.
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

func trimEnd(line []byte) []byte {
	for len(line) > 0 && (line[len(line)-1] == '\r' || line[len(line)-1] == '\n') {
		line = line[:len(line)-1]
	}
	return line
}

func openText(path string) (io.ReadCloser, error) {
	f, err := fileio.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Size() == 0 && strings.HasSuffix(path, ".zst") {
		// The zstd decoder accepts an empty file.
		return nil, errors.Join(fmt.Errorf("%s: %w; the file is empty, fetch it again", path, io.ErrUnexpectedEOF), f.Close())
	}
	return fileio.Unpacked(f, path, 0)
}

// IsFile reports whether a readable file starts like a graph file.
func IsFile(path string) bool {
	f, err := fileio.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() // read-only: nothing can be lost
	head := make([]byte, len(magic))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == magic
}
