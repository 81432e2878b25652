package corpusweb

import (
	"net"
	"sync"
)

// held are the connections that faults have taken from net/http, so that the end
// of the web can end them. It is safe for concurrent use.
type held struct {
	quit chan struct{} // closed by drop: faults under way end

	mu      sync.Mutex // guards the rest
	conns   map[net.Conn]struct{}
	closing bool
}

func newHeld() *held { return &held{quit: make(chan struct{}), conns: map[net.Conn]struct{}{}} }

// add notes a connection; false when the web is closing.
func (h *held) add(c net.Conn) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closing {
		return false
	}
	h.conns[c] = struct{}{}
	return true
}

// release closes a connection that was added.
func (h *held) release(c net.Conn) {
	h.mu.Lock()
	delete(h.conns, c)
	h.mu.Unlock()
	c.Close()
}

// drop ends all faults under way.
func (h *held) drop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closing {
		h.closing = true
		close(h.quit)
	}
	for c := range h.conns {
		c.Close()
	}
}
