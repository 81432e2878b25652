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
	codingDeflate // zlib by the RFC, bare deflate from many servers
	codingUnknown
)

// ratioFloor is the size from which MaxRatio applies: small runs of blanks compress by a
// thousand and harm nobody.
const ratioFloor = 1 << 20

// drainBytes is the part of an unwanted body that is read to keep its connection.
const drainBytes = 16 << 10

// aheadBytes is the size of one read of a body. It also holds the bytes from which the type is
// sniffed.
const aheadBytes = 32 << 10

// bodyReader is the body for Colly: decompressed as it comes, and stopped at a limit before
// the excess is in memory.
type bodyReader struct {
	ex     *exchange
	raw    io.ReadCloser // net/http's body
	http2  bool
	coding coding
	plain  io.Reader     // decompressed; nil until the first read
	ahead  *bufio.Reader // the clone's buffer over next's output
	out    int64         // bytes that came out of plain
	err    error         // its end; io.EOF is a good one
	packed *bufio.Reader // source of a gzip body
	padded int           // bytes that paddedReader added
}

func newBodyReader(ex *exchange, res *http.Response) *bodyReader {
	b := &bodyReader{ex: ex, raw: res.Body, http2: res.ProtoMajor == 2, ahead: ex.ahead}
	b.ahead.Reset(limitedReader{b})
	if codings := res.Header["Content-Encoding"]; len(codings) > 0 {
		b.coding = parseCoding(strings.Join(codings, ","))
	}
	return b
}

// parseCoding reads Content-Encoding, a list. Like browsers it ignores items that are no
// coding.
func parseCoding(value string) coding {
	found := codingNone
	for item := range listItems(value) {
		name, _, _ := strings.Cut(item, ";")
		one := codingNone
		switch strings.ToLower(strings.Trim(name, " \t\"'")) {
		case "gzip", "x-gzip":
			one = codingGzip
		case "deflate":
			one = codingDeflate
		case "br", "zstd", "dcb", "dcz", "compress", "x-compress", "bzip2", "x-bzip2", "xz", "lzma", "exi", "pack200-gzip", "aes128gcm":
			one = codingUnknown
		}
		switch {
		case found == codingNone:
			found = one
		case one != codingNone:
			return codingUnknown // a chain
		}
	}
	return found
}

// Read implements io.Reader; an error other than io.EOF ends the exchange.
func (b *bodyReader) Read(p []byte) (int, error) { return b.ahead.Read(p) }

// peek returns the body's first n bytes, or all. The error is that of a body that broke
// earlier.
func (b *bodyReader) peek(n int) ([]byte, error) {
	head, err := b.ahead.Peek(n)
	if err == io.EOF {
		err = nil
	}
	return head, err
}

// failed returns the error of a body that ended badly, else nil.
func (b *bodyReader) failed() error {
	if b.err == io.EOF {
		return nil
	}
	return b.err
}

// limitedReader is a body under its limits, below the buffer.
type limitedReader struct{ b *bodyReader }

func (l limitedReader) Read(p []byte) (n int, err error) {
	b := l.b
	if b.err != nil {
		return 0, b.err
	}
	n, b.err = b.read(p)
	b.out += int64(n)
	if b.ex.req.Stream == nil {
		b.ex.pace.held.Store(b.out)
	}
	limit := b.ex.most
	switch {
	case b.out > limit && b.ex.req.Truncate:
		n -= int(b.out - limit)
		b.err = io.EOF
	case b.out > limit:
		b.err = &stateError{StateTooLarge, fmt.Errorf("body over the limit of %d bytes", limit)}
	default:
		if bomb := b.bomb(); bomb != nil {
			b.err = bomb
		}
	}
	return n, b.err
}

// bomb returns an error when too much came out of too little.
func (b *bodyReader) bomb() error {
	wire := b.ex.pace.wire.Load()
	if b.coding == codingNone || b.out <= ratioFloor || b.out/b.ex.f.opt.MaxRatio <= wire {
		return nil
	}
	return &stateError{StateTooLarge, fmt.Errorf("decompression bomb: %d bytes from %d", b.out, wire)}
}

func (b *bodyReader) read(p []byte) (int, error) {
	if b.plain == nil {
		if err := b.open(); err != nil {
			return 0, err
		}
	}
	n, err := b.plain.Read(p)
	for n == 0 && err == io.EOF && b.packed != nil {
		if err = b.nextMember(); err != nil {
			break
		}
		n, err = b.plain.Read(p)
	}
	switch {
	case err == io.EOF && n > 0:
		return n, nil // the error returns with the next member or none
	case err == nil || err == io.EOF:
		return n, err
	case err == gzip.ErrChecksum && b.padded > 0:
		b.ex.answer.note = "gzip without a trailer: the body may be incomplete"
		return n, io.EOF
	}
	return n, b.broken(err)
}

// nextMember continues with the next gzip member, or ends with io.EOF. Junk after a member is
// ignored, as in browsers.
func (b *bodyReader) nextMember() error {
	magic, err := b.packed.Peek(2)
	if err != nil {
		return err // the exchange's error, or the end
	}
	if string(magic) != "\x1f\x8b" {
		return io.EOF
	}
	z := b.plain.(*gzip.Reader)
	switch err := z.Reset(b.packed); err {
	case nil:
		z.Multistream(false)
		return nil
	case gzip.ErrHeader, io.ErrUnexpectedEOF:
		return io.EOF
	default:
		return err
	}
}

// broken wraps a read error. Its state is that of the phase: body_error, or body_timeout after
// a limit.
func (b *bodyReader) broken(err error) error {
	return fmt.Errorf("body broken after %d bytes: %w", b.ex.pace.wire.Load(), err)
}

// open sets up decompression at the first read, since it waits for bytes.
func (b *bodyReader) open() error {
	wire := wireReader{b}
	switch b.coding {
	case codingNone:
		b.plain = wire
	case codingGzip:
		z := gzipPool.Get().(*gzip.Reader)
		b.packed = bufio.NewReader(paddedReader{wire})
		if err := z.Reset(b.packed); err != nil {
			gzipPool.Put(z)
			return b.openError(err)
		}
		z.Multistream(false) // nextMember does that
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

// openError accepts an empty body, whatever its coding.
func (b *bodyReader) openError(err error) error {
	if err == io.EOF && b.ex.pace.wire.Load() == 0 {
		return io.EOF
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return b.broken(err)
}

// Close ends the exchange's use of the connection. It reads a short rest, so that the
// connection can serve again, and closes on a long or slow one. HTTP/2 closes streams, not
// connections.
func (b *bodyReader) Close() error {
	if z, ok := b.plain.(*gzip.Reader); ok {
		b.plain = nil
		gzipPool.Put(z)
	}
	// After 101 the connection is no longer net/http's, and no limit would end a read.
	if b.err == nil && !b.http2 && b.ex.answer.status >= 200 && b.ex.answer.contentLength() <= drainBytes {
		b.ex.clock.enter(phaseDrain)
		// An error means that the connection is lost; Close settles that.
		_, _ = io.CopyN(io.Discard, b.raw, drainBytes+1)
	}
	return b.raw.Close()
}

// wireReader counts bytes as they come.
type wireReader struct{ b *bodyReader }

func (w wireReader) Read(p []byte) (int, error) {
	n, err := w.b.raw.Read(p)
	wire := w.b.ex.pace.wire.Add(int64(n))
	if limit := w.b.ex.most; wire > limit && w.b.coding != codingNone {
		// The packed body exceeds the limit for the unpacked one. It may unpack to nothing, as
		// empty gzip members do, so limitedReader would not notice.
		return 0, &stateError{StateTooLarge, fmt.Errorf("compressed body over the limit of %d bytes", limit)}
	}
	return n, err
}

// gzipTrailer is the length of checksum and size (RFC 1952, 2.3.1).
const gzipTrailer = 8

// paddedReader appends a wrong trailer to a body of the announced length. A complete gzip body
// without a trailer then fails by its checksum, which distinguishes it from one cut within its
// data.
type paddedReader struct{ wireReader }

func (r paddedReader) Read(p []byte) (int, error) {
	n, err := r.wireReader.Read(p)
	b := r.b
	if n > 0 || err != io.EOF || b.padded == gzipTrailer || b.ex.pace.wire.Load() == 0 {
		if n > 0 && err == io.EOF {
			err = nil // it returns with the next read
		}
		return n, err
	}
	n = min(len(p), gzipTrailer-b.padded)
	for i := range p[:n] {
		p[i] = 0xff // no body under the limit has such a size
	}
	b.padded += n
	return n, nil
}

// gzipPool keeps decompressors: each has 40 KiB of tables and window.
var gzipPool = sync.Pool{New: func() any { return new(gzip.Reader) }}
