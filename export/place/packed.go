package place

import (
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Packed compresses what goes to a file whose name ends so. Archives pack their records
// themselves.
func Packed(name string, to io.WriteCloser) (io.WriteCloser, error) {
	switch {
	case strings.HasSuffix(name, ".warc.gz"):
		return to, nil
	case strings.HasSuffix(name, ".gz"):
		return &through{gzip.NewWriter(to), to}, nil
	case strings.HasSuffix(name, ".zst"):
		// One goroutine, as the others have the pages to read.
		z, err := zstd.NewWriter(to, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true))
		return &through{z, to}, err
	}
	return to, nil
}

// through is a compressor and the file behind it.
type through struct {
	io.WriteCloser
	file io.Closer
}

func (t *through) Close() error { return errors.Join(t.WriteCloser.Close(), t.file.Close()) }
