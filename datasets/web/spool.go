package web

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"golang.org/x/text/encoding/htmlindex"

	"fossick/datasets"
)

// spool is a file of uncompressed bodies. The page cache makes it fast, and decompressing 20 KB would
// cost more than the rest of a request.
type spool struct {
	file *os.File
	w    *bufio.Writer
	size int64
}

type entry struct {
	offset int64
	length int32
	text   bool // text/plain
	bare   bool // no charset in the header, because the markup declares one

	document *documentKind // nil for a page
	sum      uint64        // hash of the body as sent: the ETag
}

// newSpool creates the file in the system's temporary folder.
func newSpool() (*spool, error) {
	f, err := os.CreateTemp("", "fossick-serve-*.spool")
	if err != nil {
		return nil, fmt.Errorf("spool: %w; set TMPDIR to a folder with room for the corpus", err)
	}
	// If the system cannot unlink an open file, close does it.
	_ = os.Remove(f.Name())
	return &spool{file: f, w: bufio.NewWriterSize(f, 1<<20)}, nil
}

// add writes a page, as a document unless that is nil.
func (s *spool) add(e *datasets.Example, key string, document *documentKind) (en entry, err error) {
	en = entry{offset: s.size, text: e.HTML == "", bare: e.Charset != "", document: document}
	body := []byte(e.HTML)
	if en.text {
		body = []byte(e.Text)
	}
	if document != nil {
		if body, err = document.asDocument(key, e.HTML); err != nil {
			return en, fmt.Errorf("page %s as a document: %w", e.URL, err)
		}
	} else if e.Charset != "" {
		enc, err := htmlindex.Get(e.Charset)
		if err != nil {
			return en, fmt.Errorf("page %s: charset %q: %w", e.URL, e.Charset, err)
		}
		if body, err = enc.NewEncoder().Bytes(body); err != nil {
			return en, fmt.Errorf("page %s in charset %s: %w", e.URL, e.Charset, err)
		}
	}
	sum := sha256.Sum256(body)
	en.sum, en.length = binary.BigEndian.Uint64(sum[:8]), int32(len(body)) // a row has at most 128 MiB
	n, err := s.w.Write(body)
	s.size += int64(n)
	if err != nil {
		return en, fmt.Errorf("spool: %w; set TMPDIR to a folder with room for the corpus", err)
	}
	return en, nil
}

func (s *spool) done() error {
	if err := s.w.Flush(); err != nil {
		return fmt.Errorf("spool: %w; set TMPDIR to a folder with room for the corpus", err)
	}
	s.w = nil
	return nil
}

// read returns a page's body, truncated if the spool cannot be read.
func (s *spool) read(en *entry) []byte {
	body := make([]byte, en.length)
	n, _ := s.file.ReadAt(body, en.offset)
	return body[:n]
}

func (s *spool) close() error {
	err := s.file.Close()
	_ = os.Remove(s.file.Name()) // already removed where newSpool could
	return err
}

func (en *entry) contentType() string {
	switch {
	case en.document != nil:
		return en.document.media
	case en.text:
		return "text/plain; charset=utf-8"
	case en.bare:
		return "text/html"
	}
	return "text/html; charset=utf-8"
}

// record is one line of the request log.
type record struct {
	Start     time.Time `json:"start"`            // request header read
	Sending   time.Time `json:"sending,omitzero"` // last part of the body about to be written
	End       time.Time `json:"end"`              // that write returned
	Host      string    `json:"host"`             // name:port
	Path      string    `json:"path"`             // with the query
	Status    int       `json:"status"`
	Bytes     int64     `json:"bytes"` // of the body
	UserAgent string    `json:"user_agent"`
	Method    string    `json:"method"`
	URL       string    `json:"url"`
	Fault     string    `json:"fault,omitempty"`       // deliberate fault in the answer
	After     string    `json:"retry_after,omitempty"` // the header, if the answer asks for a delay
}

// requestLog writes each line at once and whole, so a crash of either side loses no answered request.
type requestLog struct {
	logger *slog.Logger

	mu     sync.Mutex // guards the rest
	w      io.Writer
	failed bool
}

func (l *requestLog) add(r record) {
	line, err := json.Marshal(r)
	if err != nil {
		return // cannot happen: all fields have a JSON form
	}
	line = append(line, '\n')
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.w.Write(line); err != nil && !l.failed {
		l.failed = true // report only once: a full disk fails at every request
		l.logger.Error("request log is incomplete from here on", "err", err)
	}
}

// counted records the status and size of an answer.
type counted struct {
	http.ResponseWriter
	status int
	bytes  int64
	fault  string    // name of the fault, for the log
	last   time.Time // start of the last write
}

// Unwrap lets a fault hijack the connection.
func (c *counted) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *counted) WriteHeader(code int) {
	if c.status == 0 {
		c.status = code
	}
	c.ResponseWriter.WriteHeader(code)
}

func (c *counted) Write(b []byte) (int, error) {
	if c.status == 0 {
		c.status = http.StatusOK
	}
	c.last = time.Now()
	n, err := c.ResponseWriter.Write(b)
	c.bytes += int64(n)
	return n, err
}

// ReadFrom keeps net/http's copying without a buffer.
func (c *counted) ReadFrom(r io.Reader) (int64, error) {
	if c.status == 0 {
		c.status = http.StatusOK
	}
	c.last = time.Now()
	n, err := io.Copy(c.ResponseWriter, r)
	c.bytes += n
	return n, err
}
