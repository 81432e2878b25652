package fetch

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"sync"
)

// tap listens to what an exchange begins with both ways on a connection of HTTP/1. It is
// safe for concurrent use: net/http reads and writes on goroutines of its own.
type tap struct {
	mu         sync.Mutex // guards the rest
	sent, came head
	awaited    bool // an answer, of which nothing has come
}

// begun says, once an exchange, that the answer begins.
func (t *tap) begun() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.awaited
	t.awaited = false
	return was
}

// begin forgets the exchange before.
func (t *tap) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.awaited = true
	t.sent.begin()
	t.came.begin()
}

// wrote is told before p is sent.
func (t *tap) wrote(p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sent.add(p)
}

func (t *tap) read(p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.came.add(p)
}

// taken returns both headers, none of a nil tap or where one is missing.
func (t *tap) taken() (sent []byte, sentCut bool, came []byte, cameCut bool) {
	if t == nil {
		return nil, false, nil, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.sent.done || !t.came.done {
		return nil, false, nil, false
	}
	return bytes.Clone(t.sent.lines), t.sent.cut, bytes.Clone(t.came.lines), t.came.cut
}

// head is the header at the front of a stream. Those of answers that are not the last one,
// as 100 Continue, are passed over.
type head struct {
	lines []byte // whole ones, but for what comes last while it is open
	line  int    // where that begins
	open  bool   // it has begun, and is not done
	done  bool
	cut   bool // there was more than maxWireBytes
}

func (h *head) begin() { *h = head{lines: h.lines[:0], open: true} }

func (h *head) end() { h.lines, h.open, h.done = h.lines[:h.line], false, true }

// add takes what follows.
func (h *head) add(p []byte) {
	for len(p) > 0 && h.open {
		n := bytes.IndexByte(p, '\n') + 1
		whole := n > 0
		if !whole {
			n = len(p)
		}
		if len(h.lines)+n > maxWireBytes {
			h.cut = true
			h.end()
			return
		}
		h.lines = append(h.lines, p[:n]...)
		if p = p[n:]; whole {
			h.lineOver()
		}
	}
}

// lineOver looks at the line that is whole now.
func (h *head) lineOver() {
	line := bytes.TrimRight(h.lines[h.line:], "\r\n")
	switch {
	case len(line) > 0:
		h.line = len(h.lines)
	case interim(h.lines):
		h.begin()
	default:
		h.end()
	}
}

// interim says whether an answer is followed by another one.
func interim(lines []byte) bool {
	_, code, _ := bytes.Cut(lines[:min(len(lines), 16)], []byte(" "))
	code = code[:min(len(code), 3)]
	n, err := strconv.Atoi(string(code))
	return bytes.HasPrefix(lines, []byte("HTTP/")) && err == nil && n/100 == 1 && n != http.StatusSwitchingProtocols
}

// tapped is a connection that can be listened to.
type tapped interface{ listen() *tap }

// tapOf returns a connection's tap, freshly begun; nil where it has none.
func tapOf(c net.Conn) *tap {
	t, ok := c.(tapped)
	if !ok {
		return nil
	}
	heard := t.listen()
	heard.begin()
	return heard
}

// tlsConn is TLS that carries HTTP/1, with a tap on what it carries.
type tlsConn struct {
	*tls.Conn
	tap    tap
	mender mender
}

func (c *tlsConn) listen() *tap { return &c.tap }

// Read is net.Conn's.
func (c *tlsConn) Read(p []byte) (int, error) { return c.mender.read(p, c.tap.begun, c.take) }

func (c *tlsConn) take(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.tap.read(p[:n])
	return n, err
}

// Write is net.Conn's.
func (c *tlsConn) Write(p []byte) (int, error) {
	c.tap.wrote(p) // before: the answer may be read before this goroutine goes on
	return c.Conn.Write(p)
}

// tlsDialer makes connections of TLS as net/http would, and puts the tap in.
type tlsDialer struct {
	dialer *dialer
	config *tls.Config
}

// DialTLSContext is http.Transport's. net/http takes HTTP/2 from a *tls.Conn alone.
func (d *tlsDialer) DialTLSContext(ctx context.Context, network, addr string) (net.Conn, error) {
	below, err := d.dialer.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	config := d.config.Clone()
	config.ServerName = addr[:strings.LastIndexByte(addr, ':')]
	config.NextProtos = []string{"h2", "http/1.1"}
	c := tls.Client(below, config)
	hooks := httptrace.ContextClientTrace(ctx)
	if hooks != nil {
		hooks.TLSHandshakeStart()
	}
	err = c.HandshakeContext(ctx)
	if hooks != nil {
		hooks.TLSHandshakeDone(c.ConnectionState(), err)
	}
	if err != nil {
		_ = below.Close() // the handshake's error tells more
		return nil, err
	}
	if c.ConnectionState().NegotiatedProtocol == "h2" {
		return c, nil
	}
	return &tlsConn{Conn: c}, nil
}
