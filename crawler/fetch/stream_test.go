package fetch

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestStream hands bodies out in pieces: the same bytes, states and limits as in
// memory.
func TestStream(t *testing.T) {
	long := strings.Repeat("a sitemap's line\n", 40_000)
	pack := func(text string) string { return gzipped([]byte(text)) }
	for name, c := range map[string]struct {
		body   string
		coding string
		length string // announced
		limit  int64
		cut    bool // Truncate
		typed  bool // judged by its type, so that its head is read before
		state  State
		want   string
	}{
		"plain":             {body: long, limit: 1 << 20, state: StateOK, want: long},
		"peeked":            {body: long, limit: 1 << 20, typed: true, state: StateOK, want: long},
		"empty":             {limit: 10, state: StateOK},
		"gzip":              {body: pack(long), coding: "gzip", limit: 1 << 20, state: StateOK, want: long},
		"junk after gzip":   {body: pack(long) + "junk that is no header", coding: "gzip", limit: 1 << 20, state: StateOK, want: long},
		"cut at the limit":  {body: long, limit: 1000, cut: true, state: StateOK, want: long[:1000]},
		"over the limit":    {body: pack(long), coding: "gzip", limit: 1000, state: StateTooLarge},
		"bomb":              {body: pack(strings.Repeat(" ", 8<<20)), coding: "gzip", limit: 50 << 20, state: StateTooLarge},
		"shorter than said": {body: long[:500], length: "5000", limit: 1 << 20, state: StateBodyError},
	} {
		t.Run(name, func(t *testing.T) {
			srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/plain")
				if c.coding != "" {
					w.Header().Set("Content-Encoding", c.coding)
				}
				if c.length != "" {
					w.Header().Set("Content-Length", c.length)
				}
				_, _ = io.WriteString(w, c.body)
			})
			var got []byte
			var readErr error
			req := Request{URL: srv.URL, MaxBodyBytes: c.limit, Truncate: c.cut, Accept: []string{"*/*"}, Stream: func(r io.Reader) {
				got, readErr = io.ReadAll(r)
			}}
			if c.typed {
				req.Accept = []string{"text/plain"}
			}
			resp := newTest(t, Options{}).Fetch(t.Context(), req)
			if resp.State != c.state || resp.Body != nil {
				t.Errorf("state %s, %d bytes kept, %v; want %s, none", resp.State, len(resp.Body), resp.Err, c.state)
			}
			if (readErr != nil) != (c.state != StateOK) {
				t.Errorf("the reader saw %v in state %s", readErr, resp.State)
			}
			if c.state == StateOK && string(got) != c.want {
				t.Errorf("got %d bytes, want %d", len(got), len(c.want))
			}
		})
	}
}

// TestStreamStops: a reader that has enough ends an endless body, well.
func TestStreamStops(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(bytes.Repeat([]byte("x"), 4096)); err != nil {
				return
			}
		}
	})
	resp := newTest(t, Options{Timeout: 10 * time.Second}).Fetch(t.Context(), Request{URL: srv.URL, Accept: []string{"*/*"}, Stream: func(r io.Reader) {
		_, _ = io.CopyN(io.Discard, r, 10_000) // the state tells
	}})
	if resp.State != StateOK || resp.Took > 5*time.Second {
		t.Errorf("state %s after %v, %v", resp.State, resp.Took, resp.Err)
	}
}

// TestStreamPanics: whoever reads and panics costs the exchange, no more.
func TestStreamPanics(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "x") })
	resp := newTest(t, Options{}).Fetch(t.Context(), Request{URL: srv.URL, Accept: []string{"*/*"}, Stream: func(io.Reader) { panic("hostile") }})
	if resp.State == StateOK || resp.Err == nil {
		t.Errorf("state %s, %v", resp.State, resp.Err)
	}
}
