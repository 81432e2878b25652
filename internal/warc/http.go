package warc

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http/httputil"
	"net/textproto"
	"strconv"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const maxHTTPHeaderBytes = 256 << 10

// ErrHTTP reports a block without an HTTP response.
var ErrHTTP = errors.New("no HTTP response")

// HTTP is the response in a record.
type HTTP struct {
	Status int
	Header textproto.MIMEHeader
	Body   []byte // without transfer and content encodings
	Cut    bool   // truncated, or an encoding broke off
}

// ReadHTTP reads the block of a response record, with at most most bytes of its body. Archives
// often name an encoding that the body does not have; such a body is returned as it is.
func ReadHTTP(block io.Reader, most int64) (*HTTP, error) {
	r := bufio.NewReaderSize(block, 8<<10)
	h := &HTTP{Header: textproto.MIMEHeader{}}
	if err := h.readHeader(r); err != nil {
		return nil, err
	}
	body := io.Reader(r)
	if strings.EqualFold(strings.TrimSpace(h.Header.Get("Transfer-Encoding")), "chunked") && beginsChunk(r) {
		body = httputil.NewChunkedReader(r)
	}
	encodings := strings.Split(h.Header.Get("Content-Encoding"), ",")
	for i := len(encodings) - 1; i >= 0; i-- {
		body = decoded(body, strings.ToLower(strings.TrimSpace(encodings[i])))
	}
	var err error
	h.Body, err = io.ReadAll(io.LimitReader(body, most+1))
	if int64(len(h.Body)) > most {
		h.Body, h.Cut = h.Body[:most], true
	}
	var damage *Error
	if errors.As(err, &damage) {
		return h, err // damage of the record, not the server's fault
	}
	h.Cut = h.Cut || err != nil
	return h, nil
}

func (h *HTTP) readHeader(r *bufio.Reader) error {
	left := maxHTTPHeaderBytes
	first := true
	for {
		line, err := r.ReadSlice('\n')
		if left -= len(line); left < 0 || errors.Is(err, bufio.ErrBufferFull) {
			return fmt.Errorf("%w: its header is too long", ErrHTTP)
		}
		var damage *Error
		if errors.As(err, &damage) {
			return err
		}
		line = bytes.TrimRight(line, "\r\n")
		switch {
		case first:
			if h.Status, first = statusOf(line), false; h.Status == 0 {
				return fmt.Errorf("%w: it begins with %.40q", ErrHTTP, line)
			}
		case len(line) == 0:
			return nil // also if the block ends with its header
		default:
			if name, value, ok := strings.Cut(string(line), ":"); ok && name != "" && line[0] != ' ' && line[0] != '\t' {
				h.Header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
			}
		}
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func statusOf(line []byte) int {
	fields := strings.Fields(string(line[:min(len(line), 64)]))
	if len(fields) < 2 || !strings.HasPrefix(fields[0], "HTTP/") {
		return 0
	}
	code, err := strconv.Atoi(fields[1])
	if err != nil || code < 100 || code > 999 {
		return 0
	}
	return code
}

func beginsChunk(r *bufio.Reader) bool {
	head, _ := r.Peek(20)
	line, _, ok := bytes.Cut(head, []byte("\n"))
	size, _, _ := strings.Cut(string(line), ";")
	_, err := strconv.ParseUint(strings.TrimSpace(size), 16, 63)
	return ok && err == nil
}

func decoded(body io.Reader, encoding string) io.Reader {
	r := bufio.NewReaderSize(body, 4<<10)
	head, _ := r.Peek(4)
	switch encoding {
	case "gzip", "x-gzip":
		if bytes.HasPrefix(head, []byte(gzipMagic[:2])) {
			if z, err := gzip.NewReader(r); err == nil {
				return z
			}
		}
	case "deflate": // is zlib, but bare from some servers
		if len(head) >= 2 && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
			if z, err := zlib.NewReader(r); err == nil {
				return z
			}
		}
		if len(head) > 0 && head[0] != '<' {
			return flate.NewReader(r)
		}
	case "zstd":
		if string(head) == zstdMagic {
			if z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(8<<20)); err == nil {
				return z
			}
		}
	case "br":
		return brotliOrPlain(r)
	}
	return r
}

// brotliOrPlain decodes Brotli if the first bytes allow; archives often store decoded bodies.
func brotliOrPlain(r *bufio.Reader) io.Reader {
	head, err := r.Peek(r.Size())
	trial := brotli.NewReader(bytes.NewReader(head))
	n, failed := io.Copy(io.Discard, io.LimitReader(trial, 64<<10))
	whole := errors.Is(err, io.EOF) // then the stream must end properly
	if failed != nil && (whole || n == 0 || !errors.Is(failed, io.ErrUnexpectedEOF)) {
		return r
	}
	return brotli.NewReader(r)
}
