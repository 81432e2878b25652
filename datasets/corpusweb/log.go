package corpusweb

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// record is one line of the request log.
type record struct {
	Start     time.Time `json:"start"`            // the header is read
	Sending   time.Time `json:"sending,omitzero"` // the last part of the body is about to be handed to the system
	End       time.Time `json:"end"`              // it was, and the server had its turn again to read the clock
	Host      string    `json:"host"`             // name:port
	Path      string    `json:"path"`             // with the query
	Status    int       `json:"status"`
	Bytes     int64     `json:"bytes"` // of the body
	UserAgent string    `json:"user_agent"`
	Method    string    `json:"method"`
	URL       string    `json:"url"`
	Fault     string    `json:"fault,omitempty"`       // what was wrong with the answer on purpose
	After     string    `json:"retry_after,omitempty"` // the header, which asks for a rest
}

// requestLog writes a line a request, at once and whole. So a kill of either side loses
// no request that was answered.
type requestLog struct {
	logger *slog.Logger

	mu     sync.Mutex // guards the rest
	w      io.Writer
	failed bool
}

func (l *requestLog) add(r record) {
	line, err := json.Marshal(r)
	if err != nil {
		return // a struct of strings and numbers has a JSON form
	}
	line = append(line, '\n')
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.w.Write(line); err != nil && !l.failed {
		l.failed = true // once is enough: a full disk would say it at every request
		l.logger.Error("request log is incomplete from here on", "err", err)
	}
}

// counted remembers what was answered.
type counted struct {
	http.ResponseWriter
	status int
	bytes  int64
	fault  string    // its name, for the log
	last   time.Time // when the last write began
}

// Unwrap lets a fault take the connection over.
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

// ReadFrom keeps net/http's way of copying without a buffer of our own.
func (c *counted) ReadFrom(r io.Reader) (int64, error) {
	if c.status == 0 {
		c.status = http.StatusOK
	}
	c.last = time.Now()
	n, err := io.Copy(c.ResponseWriter, r)
	c.bytes += n
	return n, err
}
