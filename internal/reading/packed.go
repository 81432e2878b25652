package reading

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

// maxWindowBytes bounds what a zstd frame may make us allocate; zstd's own command line
// refuses more than this unless told otherwise.
const maxWindowBytes = 128 << 20

// What grows to more than bombBytes, and more than bombRatio times what it is packed, is no
// text: markup seldom shrinks to a tenth, and nothing that is read to a thousandth.
const (
	bombBytes = 64 << 20
	bombRatio = 200
)

// ErrBomb reports what grows too much when it is unpacked.
var ErrBomb = errors.New("grows too much when unpacked")

// Bomb says whether out bytes are more than in packed ones may become.
func Bomb(in, out int64) bool { return out > bombBytes && out/bombRatio > in }

// Unpacked reads f, decompressed when its name ends in .gz or .zst, by so many goroutines
// [the processors]. Closing it closes f, and so does an error.
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

// counted counts what is read; others may look meanwhile.
type counted struct {
	r io.Reader
	n atomic.Int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// bounded ends in ErrBomb where what is read is too much for what it came from.
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

// midway keeps an archive that ends before its first byte from looking like a file that
// was read to its end.
func midway(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
