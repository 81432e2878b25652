package warc

import (
	"bytes"
	"compress/zlib"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"

	"fossick/internal/testkit"
)

const markup = "<html><title>A page</title><p>Its text, its text, its text.</p></html>"

func packedWith(t *testing.T, make func(io.Writer) (io.WriteCloser, error)) string {
	var b bytes.Buffer
	w := testkit.Call(make(&b)).Must(t)
	if _, err := io.WriteString(w, markup); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestReadHTTP: encodings of a body are undone, but not those that its header only claims.
func TestReadHTTP(t *testing.T) {
	gz := string(gzipOf(t, markup))
	br := packedWith(t, func(w io.Writer) (io.WriteCloser, error) { return brotli.NewWriter(w), nil })
	zl := packedWith(t, func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriter(w), nil })
	raw := packedWith(t, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, 5) })
	zs := packedWith(t, func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) })
	chunked := func(s string) string {
		return "5;x=y\r\n" + s[:5] + "\r\n" + strings.ToUpper("1\r\n") + s[5:6] + "\r\n" + hexOf(len(s)-6) + "\r\n" + s[6:] + "\r\n0\r\n\r\n"
	}
	for name, c := range map[string]struct{ header, body string }{
		"plain":                     {"", markup},
		"chunked":                   {"Transfer-Encoding: chunked\r\n", chunked(markup)},
		"said to be chunked":        {"Transfer-Encoding: chunked\r\n", markup},
		"gzip":                      {"Content-Encoding: gzip\r\n", gz},
		"gzip in chunks":            {"content-encoding: GZIP\r\ntransfer-encoding: Chunked\r\n", chunked(gz)},
		"said to be gzip":           {"Content-Encoding: gzip\r\n", markup},
		"brotli":                    {"Content-Encoding: br\r\n", br},
		"said to be brotli":         {"Content-Encoding: br\r\n", markup},
		"zlib":                      {"Content-Encoding: deflate\r\n", zl},
		"deflate without a header":  {"Content-Encoding: deflate\r\n", raw},
		"said to be deflate":        {"Content-Encoding: deflate\r\n", markup},
		"zstd":                      {"Content-Encoding: zstd\r\n", zs},
		"twice":                     {"Content-Encoding: br, gzip\r\n", string(gzipOf(t, br))},
		"an encoding nobody knows":  {"Content-Encoding: rot13\r\n", markup},
		"a header that is odd":      {"no field\r\n continued\r\n: nameless\r\nX-Y :z\r\n", markup},
		"a header of bare newlines": {"X: y\n", markup},
	} {
		h, err := ReadHTTP(strings.NewReader("HTTP/1.1 203 Odd\r\n"+c.header+"\r\n"+c.body), 1<<20)
		if err != nil || h.Status != 203 || string(h.Body) != markup || h.Cut {
			t.Errorf("%s: %+v, %v", name, h, err)
		}
	}
	for name, block := range map[string]string{
		"nothing": "", "markup": markup, "a request": "GET / HTTP/1.1\r\n\r\n", "no code": "HTTP/1.1 OK\r\n\r\n", "a code too large": "HTTP/1.1 2000\r\n\r\n",
		"a header too long": "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 100000), "a line too long": "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("y", 100000),
	} {
		if _, err := ReadHTTP(strings.NewReader(block), 1<<20); !errors.Is(err, ErrHTTP) {
			t.Errorf("%s: %v, want %v", name, err, ErrHTTP)
		}
	}
	for name, block := range map[string]string{
		"a body too long": "HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("x", 101),
		"a bomb":          "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + string(gzipOf(t, strings.Repeat("x", 1<<24))),
		"half a stream":   "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gz[:len(gz)-9],
		"half a chunk":    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(markup)[:30],
	} {
		if h, err := ReadHTTP(strings.NewReader(block), 100); err != nil || !h.Cut || len(h.Body) > 100 || len(h.Body) < 10 {
			t.Errorf("%s: %v, %v; want the beginning of the body", name, h, err)
		}
	}
	if h, err := ReadHTTP(strings.NewReader("HTTP/1.0 404"), 1); err != nil || h.Status != 404 {
		t.Errorf("a status line alone: %v, %v", h, err)
	}
}

func hexOf(n int) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[n>>4], digits[n&15]})
}

// FuzzReadHTTP: no block causes a panic or too much reading.
func FuzzReadHTTP(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: br\r\n\r\n5\r\nhello\r\n0\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Encoding: deflate, zstd, gzip\r\n\r\n" + markup))
	f.Fuzz(func(t *testing.T, block []byte) {
		if h, err := ReadHTTP(bytes.NewReader(block), 1000); err == nil && len(h.Body) > 1000 {
			t.Errorf("%d bytes", len(h.Body))
		}
	})
}
