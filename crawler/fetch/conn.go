package fetch

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A watchedConn guards a kept connection against unsolicited answers. net/http drops an idle
// connection on which data comes, but a quick request would take that data for its answer;
// behind a proxy the answer could be another host's. See meter for its other limits.
type watchedConn struct {
	net.Conn
	raw    syscall.RawConn
	meter  meter
	tap    tap
	mender mender

	mu      sync.Mutex // guards the rest, and reads that waited
	reading bool       // a Read waits: all earlier data was read
	kept    bool       // idle: nothing may come before a write
	closed  bool
	sent    bool // written to since settle
}

// watch returns conn under guard, or conn itself if it is no socket.
func watch(conn net.Conn) net.Conn {
	sc, ok := conn.(syscall.Conn)
	if !ok {
		return conn
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return conn // closed; its use will report that
	}
	return &watchedConn{Conn: conn, raw: raw}
}

// errUnsolicited ends a kept connection on which data came before a request.
var errUnsolicited = errors.New("the server sent data before the request")

func (c *watchedConn) listen() *tap { return &c.tap }

func (c *watchedConn) Read(p []byte) (int, error) { return c.mender.read(p, c.tap.begun, c.take) }

// take reads the bytes at hand. Bytes that it waits for it takes only after checking that they
// may come; until then Write sees them too.
func (c *watchedConn) take(p []byte) (n int, err error) {
	waited := false
	rawErr := c.raw.Read(func(fd uintptr) bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		if waited && c.kept && peek(fd) {
			err = errUnsolicited
		} else {
			n, err = readFD(int(fd), p)
		}
		waited = true
		c.reading = err == syscall.EAGAIN
		return !c.reading
	})
	switch {
	case rawErr != nil:
		return 0, rawErr // a deadline, or closed
	case err != nil:
		return 0, &net.OpError{Op: "read", Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
	case n == 0 && len(p) > 0:
		return 0, io.EOF
	}
	if err := c.meter.take(n); err != nil {
		_ = c.Close()
		return 0, err
	}
	c.tap.read(p[:n])
	return n, nil
}

// readFD reads the bytes at hand.
func readFD(fd int, p []byte) (int, error) {
	for {
		n, err := syscall.Read(fd, p) // not unix.Read, which the race detector does not see
		if err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}

// peek reports whether unread bytes have come.
func peek(fd uintptr) bool {
	var b [1]byte
	n, _, err := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	return err == nil && n > 0
}

// Write sends, unless unsolicited data came on a kept connection; then nothing is sent, and
// net/http tries another one.
func (c *watchedConn) Write(p []byte) (int, error) {
	if c.spoke() {
		return 0, errUnsolicited
	}
	// Set before the write: the server may answer or hang up before this goroutine continues.
	before := c.note(true)
	c.tap.wrote(p)
	n, err := c.Conn.Write(p)
	if n == 0 && err != nil {
		c.note(before)
	}
	return n, err
}

// note sets whether something was sent, and returns the previous value.
func (c *watchedConn) note(sent bool) (before bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, c.sent = c.sent, sent
	return before
}

// untouched reports whether no part of a request went out on a kept connection.
func (c *watchedConn) untouched() bool {
	if c == nil {
		return false // unknown
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.sent
}

// spoke reports whether unsolicited data came on a kept connection. Such a connection stays
// kept, so that a waiting Read does not return that data.
func (c *watchedConn) spoke() (yes bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept {
		_ = c.raw.Control(func(fd uintptr) { yes = peek(fd) }) // closed; the write will report that
	}
	c.kept = yes
	return yes
}

func (c *watchedConn) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	return c.Conn.Close()
}

// settleLimit bounds the wait for net/http's Read, which takes microseconds unless the machine
// is very busy.
const settleLimit = time.Second

// settle waits until a kept connection is being read, so that nothing is left of the last
// answer, or is closed because something was. From then on no data may come before the next
// write. It returns nil for HTTP/2, which matches answers to requests, and where the
// connection cannot be watched.
func settle(conn net.Conn) *watchedConn {
	if isHTTP2(conn) {
		return nil
	}
	if t, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = t.NetConn()
	}
	c, ok := conn.(*watchedConn)
	if !ok {
		return nil // TLS within TLS to a proxy: the proxy frames the inner layer
	}
	for range 100 {
		if c.settled() {
			return c
		}
		runtime.Gosched()
	}
	for end := time.Now().Add(settleLimit); time.Now().Before(end); time.Sleep(50 * time.Microsecond) {
		if c.settled() {
			return c
		}
	}
	_ = c.Close() // nothing was sent: net/http tries another connection
	return c
}

func (c *watchedConn) settled() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept, c.sent = c.reading, false
	return c.reading || c.closed
}

// Limits on a server's bytes at the socket, including TLS, HTTP/2 frames, pings and padding.
// Without them a server could send gigabytes within the time for a header.
const (
	maxEarlyBytes = 512 << 10 // before the first request: a proxy's answer, the TLS handshake
	maxIdleBytes  = 64 << 10  // between requests
	// headSlack covers a header's overhead beyond MaxHeaderBytes, which counts unpacked bytes.
	headSlack = 64 << 10
	// streamWindow is the part of an HTTP/2 body that net/http accepts before it returns the
	// header.
	streamWindow = 4 << 20
	// A body may take twice its limit plus bodySlack: small chunks cost a third more, TLS
	// around each as much again.
	bodyFold  = 2
	bodySlack = 1 << 20
)

var (
	errUnasked = errors.New("the server sends data without a request")
	errFlood   = errors.New("the server sends more data than any answer needs")
)

// meter limits a server's bytes on a connection. It is safe for concurrent use.
type meter struct {
	mu    sync.Mutex // guards the rest
	used  bool       // an exchange began: handshakes are over
	users int        // exchanges on it
	came  int64      // before the first exchange, or since the last one
	left  int64      // bytes that its exchanges may still receive
	last  *clock     // of the latest exchange
}

// take counts n received bytes; the error reports that they are too many.
func (m *meter) take(n int) error {
	last, err := m.count(int64(n))
	if err != nil && last != nil {
		last.flooded()
	}
	return err
}

// count also returns the clock of the exchange that is charged with too many bytes, if any.
func (m *meter) count(n int64) (*clock, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.users > 0 {
		if m.left -= n; m.left < 0 {
			return m.last, errFlood
		}
		return nil, nil
	}
	m.came += n
	switch {
	case m.used && m.came > maxIdleBytes:
		return nil, errUnasked
	case m.came > maxEarlyBytes:
		return nil, errFlood
	}
	return nil, nil
}

// join begins an exchange that may receive n bytes before its header is judged.
func (m *meter) join(of *clock, n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.users == 0 {
		m.left = 0
	}
	m.left += n
	m.users++
	m.used, m.last = true, of
}

func (m *meter) allow(n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left += n
}

// part ends an exchange.
func (m *meter) part() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.users--; m.users == 0 {
		m.came, m.last = 0, nil
	}
}

// A server can misuse an HTTP/2 connection after the exchange: net/http ends a stream and
// keeps reading pings, settings and header blocks without end. So a connection is closed when
// an exchange on it fails, or when much data comes between exchanges.

// conn is the connection of an exchange, none at first.
type conn struct {
	net.Conn
	addr    netip.Addr   // of the server, without a proxy
	watched *watchedConn // below
	kept    *watchedConn // set if an earlier exchange left the connection open
	tap     *tap         // nil where the connection cannot be tapped
}

// attend registers the connection, which may receive n bytes before the header is judged.
func (c *conn) attend(to net.Conn, by *clock) {
	c.leave()
	c.Conn, c.watched, c.tap = to, watchedOf(to), tapOf(to)
	if c.watched == nil {
		return
	}
	head := by.opt.MaxHeaderBytes + headSlack
	if isHTTP2(to) {
		head += streamWindow
	}
	c.watched.meter.join(by, head)
}

// allowBody permits a body of at most n bytes.
func (c *conn) allowBody(n int64) {
	if c.watched != nil {
		c.watched.meter.allow(bodyFold*min(n, 1<<60) + bodySlack)
	}
}

// leave undoes attend, if it was called.
func (c *conn) leave() {
	if c.watched != nil {
		c.watched.meter.part()
		c.watched = nil
	}
}

// hangUp closes an HTTP/2 connection whose exchange failed. It has no other stream: it belongs
// to one host, which has one exchange at a time.
func (c *conn) hangUp() {
	if isHTTP2(c.Conn) { // net/http has closed others, or reused them
		hangUp(c.Conn)
	}
}

func isHTTP2(conn net.Conn) bool {
	t, ok := conn.(*tls.Conn)
	return ok && t.ConnectionState().NegotiatedProtocol == "h2"
}

// hangUp closes the socket of conn; TLS would first send a farewell to a peer that may not
// read.
func hangUp(conn net.Conn) {
	if t, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = t.NetConn()
	}
	_ = conn.Close()
}

// watchedOf finds the watched connection below layers of TLS; nil if there is none.
func watchedOf(conn net.Conn) *watchedConn {
	for {
		switch c := conn.(type) {
		case *watchedConn:
			return c
		case interface{ NetConn() net.Conn }:
			conn = c.NetConn()
		default:
			return nil
		}
	}
}

// tap records the headers of an HTTP/1 exchange in both directions. It is safe for concurrent
// use, since net/http reads and writes on separate goroutines.
type tap struct {
	mu         sync.Mutex // guards the rest
	sent, came head
	awaited    bool // no byte of the answer has come
}

// begun reports once per exchange that the answer begins.
func (t *tap) begun() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.awaited
	t.awaited = false
	return was
}

// begin discards the previous exchange.
func (t *tap) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.awaited = true
	t.sent.begin()
	t.came.begin()
}

// wrote must be called before p is sent.
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

// taken returns both headers; none from a nil tap or when one is missing.
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

// head is the header at the front of a stream. It skips interim answers such as 100 Continue.
type head struct {
	lines []byte // whole lines, and at the end an open one
	line  int    // start of the last line
	open  bool   // begun and not complete
	done  bool
	cut   bool // there was more than maxWireBytes
}

func (h *head) begin() { *h = head{lines: h.lines[:0], open: true} }

func (h *head) end() { h.lines, h.open, h.done = h.lines[:h.line], false, true }

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

// lineOver handles a completed line.
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

// interim reports whether another answer follows.
func interim(lines []byte) bool {
	_, code, _ := bytes.Cut(lines[:min(len(lines), 16)], []byte(" "))
	code = code[:min(len(code), 3)]
	n, err := strconv.Atoi(string(code))
	return bytes.HasPrefix(lines, []byte("HTTP/")) && err == nil && n/100 == 1 && n != http.StatusSwitchingProtocols
}

// tapped is a connection with a tap.
type tapped interface{ listen() *tap }

// tapOf resets and returns a connection's tap; nil where it has none.
func tapOf(c net.Conn) *tap {
	t, ok := c.(tapped)
	if !ok {
		return nil
	}
	heard := t.listen()
	heard.begin()
	return heard
}

// tlsConn is a TLS connection for HTTP/1 with a tap on its plain text.
type tlsConn struct {
	*tls.Conn
	tap    tap
	mender mender
}

func (c *tlsConn) listen() *tap { return &c.tap }

func (c *tlsConn) Read(p []byte) (int, error) { return c.mender.read(p, c.tap.begun, c.take) }

func (c *tlsConn) take(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.tap.read(p[:n])
	return n, err
}

func (c *tlsConn) Write(p []byte) (int, error) {
	c.tap.wrote(p) // first, since the answer may be read before this goroutine continues
	return c.Conn.Write(p)
}

// tlsDialer makes TLS connections as net/http would, with a tap.
type tlsDialer struct {
	dialer *dialer
	config *tls.Config
}

// DialTLSContext implements http.Transport's hook. net/http uses HTTP/2 on a *tls.Conn alone.
func (d *tlsDialer) dialTLSContext(ctx context.Context, network, addr string) (net.Conn, error) {
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
		_ = below.Close() // the handshake's error says more
		return nil, err
	}
	if c.ConnectionState().NegotiatedProtocol == "h2" {
		return c, nil
	}
	return &tlsConn{Conn: c}, nil
}
