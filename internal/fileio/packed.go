package fileio

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxWindowBytes bounds the memory for a zstd frame, as zstd's command line does by default.
const maxWindowBytes = 128 << 20

// Size and ratio beyond which decompressed data cannot be text.
const (
	bombBytes = 64 << 20
	bombRatio = 200
)

var ErrBomb = errors.New("grows too much when unpacked")

// Bomb reports whether in compressed bytes have grown to too many out bytes.
func Bomb(in, out int64) bool { return out > bombBytes && out/bombRatio > in }

// Unpacked reads f, decompressed if its name ends in .gz or .zst, with this many goroutines [number
// of processors]. Closing it, or an error, closes f.
func Unpacked(f *os.File, name string, goroutines int) (io.ReadCloser, error) {
	switch {
	case strings.HasSuffix(name, ".gz"):
		in := &counted{r: f}
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w; a file named .gz must be gzip", name, midway(err)), f.Close())
		}
		return &unpacked{bounded: bounded{r: z, in: in}, file: f, close: z.Close}, nil
	case strings.HasSuffix(name, ".zst"):
		in := &counted{r: f}
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(goroutines), zstd.WithDecoderMaxWindow(maxWindowBytes))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w; a file named .zst must be zstd", name, midway(err)), f.Close())
		}
		return &unpacked{bounded: bounded{r: z, in: in}, file: f, close: func() error { z.Close(); return nil }}, nil
	}
	return f, nil
}

type counted struct {
	r io.Reader
	n atomic.Int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

type bounded struct {
	r   io.Reader
	in  *counted
	out int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if Bomb(b.in.n.Load(), b.out) {
		return 0, fmt.Errorf("%w: %s from %s", ErrBomb, size(b.out), size(b.in.n.Load()))
	}
	n, err := b.r.Read(p)
	b.out += int64(n)
	return n, err
}

type unpacked struct {
	bounded
	file  *os.File
	close func() error
}

func (u *unpacked) Close() error { return errors.Join(u.close(), u.file.Close()) }

// midway makes an archive that is empty count as truncated.
func midway(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

var ErrShape = errors.New("nested too deeply")

// MaxTOMLBytes bounds a TOML file; after CheckTOML one costs some hundred MiB at most.
const MaxTOMLBytes = 1 << 20

// maxDepth bounds dotted keys and nesting, whose cost is quadratic: 10,000 parts cost 4 GB.
const maxDepth = 16

// CheckTOML refuses text that is costly to parse. It does not check the syntax.
func CheckTOML(text string) error {
	parts, depth := 1, 0
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case '"', '\'':
			i = afterString(text, i)
			continue
		case '#':
			for i < len(text) && text[i] != '\n' {
				i++
			}
			continue
		case '.':
			parts++
		case '[', '{':
			depth++
			parts = 1
		case ']', '}':
			depth = max(0, depth-1)
			parts = 1
		case '=', ',', '\n':
			parts = 1
		}
		if parts > maxDepth || depth > maxDepth {
			return fmt.Errorf("offset %d: %w; no setting has more than %d parts or levels", i, ErrShape, maxDepth)
		}
		i++
	}
	return nil
}

func afterString(text string, i int) int {
	quote, end := text[i], 1
	if i+2 < len(text) && text[i+1] == quote && text[i+2] == quote {
		end = 3
	}
	run := 0
	for i += end; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote == '"':
			i++
			run = 0
		case text[i] == quote:
			if run++; run < end {
				continue
			}
			for end == 3 && run < 5 && i+1 < len(text) && text[i+1] == quote { // two more quotes may precede the end
				i, run = i+1, run+1
			}
			return i + 1
		case text[i] == '\n' && end == 1: // unterminated: the parser reports it
			return i
		default:
			run = 0
		}
	}
	return len(text)
}
