package fetch

import (
	"errors"
	"io"
	"net"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A watchedConn guards a kept connection against answers that nobody asked for.
// net/http reads on while a connection waits for its next request, and drops it
// when something comes; but a request that is quicker takes that for its answer.
// Behind a proxy it would be another host's. See meter for what else it watches.
type watchedConn struct {
	net.Conn
	raw    syscall.RawConn
	meter  meter
	tap    tap
	mender mender

	mu      sync.Mutex // guards the rest, and reads that were waited for
	reading bool       // a Read waits: all that came before has been read
	kept    bool       // waits for its next request: nothing may come before a write
	closed  bool
	sent    bool // written to since settle
}

// watch returns conn under guard; one that is no socket is left as it is.
func watch(conn net.Conn) net.Conn {
	sc, ok := conn.(syscall.Conn)
	if !ok {
		return conn
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return conn // closed: its use will say so
	}
	return &watchedConn{Conn: conn, raw: raw}
}

// errUnsolicited is how a kept connection ends that speaks before it is asked.
var errUnsolicited = errors.New("the server sent data before the request")

func (c *watchedConn) listen() *tap { return &c.tap }

// Read is net.Conn's.
func (c *watchedConn) Read(p []byte) (int, error) { return c.mender.read(p, c.tap.begun, c.take) }

// take reads what is there at once. What it has to wait for, it takes only after a look
// at whether it may come at all. Until then Write can see it too.
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

// readFD reads what is there.
func readFD(fd int, p []byte) (int, error) {
	for {
		n, err := syscall.Read(fd, p) // not unix.Read, of which the race detector knows nothing
		if err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}

// peek says whether bytes have come that were not read yet.
func peek(fd uintptr) bool {
	var b [1]byte
	n, _, err := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	return err == nil && n > 0
}

// Write sends, unless a kept connection has spoken by itself; then nothing was
// sent, and net/http tries another connection.
func (c *watchedConn) Write(p []byte) (int, error) {
	if c.spoke() {
		return 0, errUnsolicited
	}
	// Noted before: the server may answer, or hang up, before we have our turn again.
	before := c.note(true)
	c.tap.wrote(p)
	n, err := c.Conn.Write(p)
	if n == 0 && err != nil {
		c.note(before)
	}
	return n, err
}

// note sets whether something was sent, and returns what it was.
func (c *watchedConn) note(sent bool) (before bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before, c.sent = c.sent, sent
	return before
}

// untouched says whether nothing of a request went out on a kept connection.
func (c *watchedConn) untouched() bool {
	if c == nil {
		return false // nobody knows
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.sent
}

// spoke says whether a kept connection has spoken by itself. One that has stays kept:
// a Read that waits must not hand on what the write was refused for.
func (c *watchedConn) spoke() (yes bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept {
		_ = c.raw.Control(func(fd uintptr) { yes = peek(fd) }) // closed: the write will say so
	}
	c.kept = yes
	return yes
}

// Close is net.Conn's.
func (c *watchedConn) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	return c.Conn.Close()
}

// settleLimit bounds the wait for net/http to come to its Read, which takes it a
// few microseconds unless the machine is very busy.
const settleLimit = time.Second

// settle waits until a kept connection is read from, so that nothing is left over
// from its last answer, or is closed because something was. From then on nothing
// may come before the next write. HTTP/2 tells by itself which answer is to what:
// then, and where the connection cannot be watched, it returns nil.
func settle(conn net.Conn) *watchedConn {
	if isHTTP2(conn) {
		return nil
	}
	if t, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = t.NetConn()
	}
	c, ok := conn.(*watchedConn)
	if !ok {
		return nil // TLS to a proxy, and TLS within: two layers, and the proxy frames what is inside
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
