package warc

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/andybalholm/brotli"
)

// brotliOrPlain undoes Brotli. Its streams begin with no mark, so the first bytes are tried:
// many an archive has bodies unpacked under their old header.
func brotliOrPlain(r *bufio.Reader) io.Reader {
	head, err := r.Peek(r.Size())
	trial := brotli.NewReader(bytes.NewReader(head))
	n, failed := io.Copy(io.Discard, io.LimitReader(trial, 64<<10))
	whole := errors.Is(err, io.EOF) // then the stream must end well
	if failed != nil && (whole || n == 0 || !errors.Is(failed, io.ErrUnexpectedEOF)) {
		return r
	}
	return brotli.NewReader(r)
}
