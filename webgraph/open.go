package webgraph

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

// maxWindowBytes bounds what a zstd frame may make us allocate.
const maxWindowBytes = 128 << 20

// openText opens a file, decompressed when its name ends in .gz or .zst.
func openText(path string) (io.ReadCloser, error) {
	f, err := reading.Open(path)
	if err != nil {
		return nil, err
	}
	var r io.Reader
	var stop func()
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Size() == 0 && strings.HasSuffix(path, ".zst") {
		// The decoder takes it for the end of a sound archive.
		return nil, errors.Join(fmt.Errorf("%s: %w; the file is empty, fetch it again", path, io.ErrUnexpectedEOF), f.Close())
	}
	switch {
	case strings.HasSuffix(path, ".gz"):
		z, err := gzip.NewReader(f)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w; a name in .gz must hold gzip", path, eof(err)), f.Close())
		}
		r, stop = z, func() {}
	case strings.HasSuffix(path, ".zst"):
		z, err := zstd.NewReader(f, zstd.WithDecoderMaxWindow(maxWindowBytes))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w; a name in .zst must hold zstd", path, eof(err)), f.Close())
		}
		r, stop = z, z.Close
	default:
		return f, nil
	}
	return &text{r, f, stop}, nil
}

type text struct {
	io.Reader
	file *os.File
	stop func()
}

func (t *text) Close() error {
	t.stop()
	return t.file.Close()
}
