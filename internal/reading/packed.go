package reading

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxWindowBytes bounds what a zstd frame may make us allocate; zstd's own command line
// refuses more than this unless told otherwise.
const maxWindowBytes = 128 << 20

// Unpacked reads f, decompressed when its name ends in .gz or .zst, by so many goroutines
// [the processors]. Closing it closes f, and so does an error.
func Unpacked(f *os.File, name string, goroutines int) (io.ReadCloser, error) {
	switch {
	case strings.HasSuffix(name, ".gz"):
		z, err := gzip.NewReader(f)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w; a name in .gz must hold gzip", name, midway(err)), f.Close())
		}
		return &unpacked{z, f, z.Close}, nil
	case strings.HasSuffix(name, ".zst"):
		z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(goroutines), zstd.WithDecoderMaxWindow(maxWindowBytes))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w; a name in .zst must hold zstd", name, midway(err)), f.Close())
		}
		return &unpacked{z, f, func() error { z.Close(); return nil }}, nil
	}
	return f, nil
}

type unpacked struct {
	io.Reader
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
