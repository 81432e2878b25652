package datasets

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"fossick/internal/reading"
)

// maxWindowBytes bounds what a zstd frame may make us allocate; zstd's own
// command line refuses more than this unless told otherwise.
const maxWindowBytes = 128 << 20

// OpenFile opens a file, decompressed when its name ends in .gz or .zst.
func OpenFile(path string) (io.ReadCloser, error) { return open(path) }

// open reads a file, decompressed when its name ends in .gz or .zst.
func open(path string) (io.ReadCloser, error) {
	f, err := reading.OpenNamed(path)
	if err != nil {
		return nil, err
	}
	switch {
	case strings.HasSuffix(path, ".gz"):
		z, err := gzip.NewReader(f)
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("%s: %w; a name in .gz must hold gzip", path, notEOF(err))
		}
		return &compressed{z, f, z.Close}, nil
	case strings.HasSuffix(path, ".zst"):
		z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindowBytes))
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("%s: %w; a name in .zst must hold zstd", path, notEOF(err))
		}
		return &compressed{z, f, func() error { z.Close(); return nil }}, nil
	}
	return f, nil
}

type compressed struct {
	io.Reader
	file  *os.File
	close func() error
}

func (c *compressed) Close() error {
	return errors.Join(c.close(), c.file.Close())
}

// notEOF keeps an archive that ends before its first byte from looking like a
// file that was read to its end.
func notEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
