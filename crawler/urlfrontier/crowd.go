package urlfrontier

import (
	"net"
	"net/http"
	"sync"
	"time"
)

// crowd is the connections that there are. Who comes when there are too many takes the place
// of the one that has been idle longest, so connections that say nothing keep nobody out.
// Safe for concurrent use.
type crowd struct {
	mu   sync.Mutex // guards the rest
	all  int
	idle map[net.Conn]time.Time // since when
}

func newCrowd() *crowd { return &crowd{idle: map[net.Conn]time.Time{}} }

// note is http.Server's ConnState.
func (c *crowd) note(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		c.all++
		if c.all > maxConnections {
			c.evict(conn)
		}
		c.idle[conn] = time.Now()
	case http.StateIdle:
		c.idle[conn] = time.Now()
	case http.StateActive:
		delete(c.idle, conn)
	case http.StateClosed, http.StateHijacked:
		delete(c.idle, conn)
		c.all--
	}
}

// evict closes the connection that has been idle longest; the new one where none is idle.
func (c *crowd) evict(conn net.Conn) {
	oldest := conn
	at := time.Now()
	for other, since := range c.idle {
		if since.Before(at) {
			oldest, at = other, since
		}
	}
	delete(c.idle, oldest) // it is closed once: the server's goroutine says so later
	_ = oldest.Close()
}
