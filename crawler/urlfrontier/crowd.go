package urlfrontier

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// crowd is the connections that there are. When there are too many, a new one takes the place
// of the one that has been idle longest; where none is idle, of the one whose calls and streams
// have said nothing for longest, if that is idleTime or more. So connections that say nothing
// keep nobody out, and a quiet stream of a good client stays while there is room. Safe for
// concurrent use.
type crowd struct {
	now func() time.Time

	mu   sync.Mutex // guards the rest
	all  int
	idle map[net.Conn]time.Time // since when
	busy map[net.Conn]time.Time // with calls under way: when one last said something
}

func newCrowd(now func() time.Time) *crowd {
	return &crowd{now: now, idle: map[net.Conn]time.Time{}, busy: map[net.Conn]time.Time{}}
}

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
		c.idle[conn] = c.now()
	case http.StateIdle:
		delete(c.busy, conn)
		c.idle[conn] = c.now()
	case http.StateActive:
		delete(c.idle, conn)
		c.busy[conn] = c.now()
	case http.StateClosed, http.StateHijacked:
		delete(c.idle, conn)
		delete(c.busy, conn)
		c.all--
	}
}

// said notes that a call of a connection has said something.
func (c *crowd) said(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, in := c.busy[conn]; in {
		c.busy[conn] = c.now()
	}
}

// evict closes the connection that has been idle longest, or quiet longest where none is
// idle; the new one where all have spoken lately.
func (c *crowd) evict(conn net.Conn) {
	out := longest(c.idle, conn, c.now())
	if out == conn {
		out = longest(c.busy, conn, c.now().Add(-idleTime))
	}
	delete(c.idle, out) // it is closed once: the server's goroutine says so later
	delete(c.busy, out)
	_ = out.Close()
}

// longest returns the connection that waits for longest, of those that wait since before at;
// otherwise if there is none.
func longest(waiting map[net.Conn]time.Time, otherwise net.Conn, at time.Time) net.Conn {
	found := otherwise
	for conn, since := range waiting {
		if since.Before(at) {
			found, at = conn, since
		}
	}
	return found
}

// connection is how a call knows what it came by.
type connection struct {
	crowd *crowd
	conn  net.Conn
}

// keep is http.Server's ConnContext.
func (c *crowd) keep(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connection{}, &connection{c, conn})
}

// heard notes that the call of a context has said something.
func heard(ctx context.Context) {
	if c, ok := ctx.Value(connection{}).(*connection); ok {
		c.crowd.said(c.conn)
	}
}
