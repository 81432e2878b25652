package fetch

import (
	"errors"
	"sync"
)

// Bytes that a server may send, on the socket: what TLS, HTTP/2 and chunks put around a
// page counts too. Frames that mean nothing, pings and padding are in no other count; a
// server sent 5 GB of them in the time that a header may take.
const (
	maxEarlyBytes = 512 << 10 // before the first request: a proxy's answer, the TLS handshake
	maxIdleBytes  = 64 << 10  // while nothing is asked
	// headSlack is for the header beyond MaxHeaderBytes, which is of what it unpacks to.
	headSlack = 64 << 10
	// streamWindow is what net/http lets a server send of an HTTP/2 body before anybody
	// has seen the header.
	streamWindow = 4 << 20
	// A body may come in twice its limit, and bodySlack. Chunks of twenty bytes, as
	// some servers send them, take a third more; TLS around each as much again.
	bodyFold  = 2
	bodySlack = 1 << 20
)

var (
	errUnasked = errors.New("the server sends data without a request")
	errFlood   = errors.New("the server sends more data than any answer needs")
)

// meter holds a connection to what its server may send. It is safe for concurrent use.
type meter struct {
	mu    sync.Mutex // guards the rest
	used  bool       // by an exchange: handshakes are over
	users int        // exchanges on it
	came  int64      // bytes before the first exchange, or since the last one
	left  int64      // bytes that its exchanges may still get
	last  *clock     // of the one that came last
}

// take counts n bytes that came; an error says that they are too many.
func (m *meter) take(n int) error {
	last, err := m.count(int64(n))
	if err != nil && last != nil {
		last.flooded()
	}
	return err
}

// count also returns the clock of the exchange that too many bytes are put down to,
// if any.
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

// join begins an exchange that may get n bytes before its header is judged.
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

// allow adds n bytes.
func (m *meter) allow(n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left += n
}

// part ends what join began.
func (m *meter) part() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.users--; m.users == 0 {
		m.came, m.last = 0, nil
	}
}
