package fetch

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
)

// coding is a Content-Encoding.
type coding int

const (
	codingNone coding = iota
	codingGzip
	codingDeflate // zlib says the RFC, bare deflate say many servers
	codingUnknown
)

// ratioFloor is how many bytes may come out of decompression before MaxRatio
// applies: small runs of blanks compress by a thousand and harm nobody.
const ratioFloor = 1 << 20

// drainBytes is how much of an unwanted body is read to keep its connection.
const drainBytes = 16 << 10

// bodyReader is the body as Colly reads it: decompressed on the fly, and an
// error as soon as a limit is crossed, before the excess is held in memory.
type bodyReader struct {
	ex        *exchange
	raw       io.ReadCloser // net/http's body
	http2     bool
	coding    coding
	plain     io.Reader // decompressed; nil until the first read
	head      []byte    // peeked, not yet read
	headErr   error     // what ended the peek
	buf       [sniffBytes]byte
	out       int64 // decompressed bytes, peeked ones included
	err       error // how it ended
	truncated bool
}

func newBodyReader(ex *exchange, res *http.Response) *bodyReader {
	b := &bodyReader{ex: ex, raw: res.Body, http2: res.ProtoMajor == 2}
	switch strings.ToLower(strings.TrimSpace(strings.Join(res.Header["Content-Encoding"], ","))) {
	case "", "identity":
	case "gzip", "x-gzip":
		b.coding = codingGzip
	case "deflate":
		b.coding = codingDeflate
	default:
		b.coding = codingUnknown
	}
	return b
}

// peek returns up to sniffBytes from the body's beginning, which Read will
// return again. The error is that of a body that broke before.
func (b *bodyReader) peek() ([]byte, error) {
	if b.head == nil && b.headErr == nil {
		n, err := 0, error(nil)
		for n < len(b.buf) && err == nil {
			var k int
			k, err = b.read(b.buf[n:])
			n += k
		}
		b.head, b.headErr = b.buf[:n], err
	}
	if b.headErr != nil && b.headErr != io.EOF {
		return b.head, b.headErr
	}
	return b.head, nil
}

// Read serves what was peeked, then the rest.
func (b *bodyReader) Read(p []byte) (int, error) {
	if len(b.head) > 0 {
		n := copy(p, b.head)
		b.head = b.head[n:]
		return n, nil
	}
	if b.headErr != nil {
		return 0, b.headErr
	}
	return b.read(p)
}

// read decompresses and enforces the limits.
func (b *bodyReader) read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if b.plain == nil {
		if b.err = b.open(); b.err != nil {
			return 0, b.err
		}
	}
	n, err := b.plain.Read(p)
	b.out += int64(n)
	limit := b.ex.req.MaxBodyBytes
	switch {
	case b.out > limit && b.ex.req.Truncate:
		n -= int(b.out - limit)
		b.truncated = true
		err = io.EOF
	case b.out > limit:
		n, err = 0, &stateError{StateTooLarge, fmt.Errorf("body over the limit of %d bytes", limit)}
	case b.coding != codingNone && b.out > ratioFloor && b.out/b.ex.f.opt.MaxRatio > b.ex.wire.Load():
		n, err = 0, &stateError{StateTooLarge, fmt.Errorf("decompression bomb: %d bytes out of %d", b.out, b.ex.wire.Load())}
	case err == gzip.ErrHeader && b.out > 0:
		err = io.EOF // junk after a whole gzip member: browsers ignore it
	case err != nil && err != io.EOF:
		err = b.broken(err)
	}
	b.err = err
	return n, err
}

// broken says where a body broke. Reading stays in the state of its phase:
// body_error, or body_timeout when a limit cancelled it.
func (b *bodyReader) broken(err error) error {
	return fmt.Errorf("body broken after %d bytes: %w", b.ex.wire.Load(), err)
}

// open sets up decompression at the first read, not before: it waits for bytes.
func (b *bodyReader) open() error {
	wire := wireReader{b}
	switch b.coding {
	case codingNone:
		b.plain = wire
	case codingGzip:
		z := gzipPool.Get().(*gzip.Reader)
		if err := z.Reset(wire); err != nil {
			gzipPool.Put(z)
			return b.openError(err)
		}
		b.plain = z
	case codingDeflate:
		r := bufio.NewReader(wire)
		first, err := r.Peek(2)
		if err != nil {
			return b.openError(err)
		}
		// A zlib header's 16 bits are a multiple of 31 (RFC 1950); bare deflate's rarely.
		if first[0]&0x0f == 8 && (uint(first[0])<<8|uint(first[1]))%31 == 0 {
			z, err := zlib.NewReader(r)
			if err != nil {
				return b.openError(err)
			}
			b.plain = z
		} else {
			b.plain = flate.NewReader(r)
		}
	default:
		return b.broken(errors.New("unknown content coding"))
	}
	return nil
}

// openError lets an empty body pass as empty, whatever coding it claims.
func (b *bodyReader) openError(err error) error {
	if err == io.EOF && b.ex.wire.Load() == 0 {
		return io.EOF
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return b.broken(err)
}

// Close ends the exchange's use of the connection. A short rest is read away,
// so that the connection can serve the next exchange; a long or slow one is
// closed upon. HTTP/2 closes streams, not connections.
func (b *bodyReader) Close() error {
	if z, ok := b.plain.(*gzip.Reader); ok {
		b.plain = nil
		gzipPool.Put(z)
	}
	if b.err == nil && !b.http2 && b.ex.contentLength() <= drainBytes {
		b.ex.enter(phaseDrain)
		// An error only means that the connection is lost, which Close settles.
		_, _ = io.CopyN(io.Discard, b.raw, drainBytes+1)
	}
	return b.raw.Close()
}

// wireReader counts bytes as they come.
type wireReader struct{ b *bodyReader }

func (w wireReader) Read(p []byte) (int, error) {
	n, err := w.b.raw.Read(p)
	w.b.ex.wire.Add(int64(n))
	return n, err
}

// gzipPool keeps decompressors: each has 40 KiB of tables and window.
var gzipPool = sync.Pool{New: func() any { return new(gzip.Reader) }}
