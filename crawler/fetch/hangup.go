package fetch

import (
	"crypto/tls"
	"net"
	"net/netip"
)

// A server can misuse an HTTP/2 connection beyond the exchange: net/http ends a
// stream and keeps reading what comes. Pings, settings, header blocks that
// never close are read until the idle limit or, with the next exchange, for
// ever. So a connection on which an exchange went wrong is closed, and so is
// one on which much comes while nothing is asked.

// conn is the connection that an exchange runs on, none at first.
type conn struct {
	net.Conn
	addr    netip.Addr   // of the server, where no proxy stands between
	watched *watchedConn // below
	kept    *watchedConn // set if the connection was kept from an exchange before
	tap     *tap         // nil where nobody can listen
}

// attend takes note of the connection, on which so many bytes may come before the
// header is judged.
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

// allowBody lets the server send a body of n bytes at most.
func (c *conn) allowBody(n int64) {
	if c.watched != nil {
		c.watched.meter.allow(bodyFold*min(n, 1<<60) + bodySlack)
	}
}

// leave ends what attend began; nothing when there is nothing to end.
func (c *conn) leave() {
	if c.watched != nil {
		c.watched.meter.part()
		c.watched = nil
	}
}

// hangUp closes an HTTP/2 connection whose exchange went wrong. It has no other
// stream: it belongs to one host, and a host has one exchange at a time.
func (c *conn) hangUp() {
	if isHTTP2(c.Conn) { // others net/http has closed, or given to another exchange
		hangUp(c.Conn)
	}
}

func isHTTP2(conn net.Conn) bool {
	t, ok := conn.(*tls.Conn)
	return ok && t.ConnectionState().NegotiatedProtocol == "h2"
}

// hangUp closes the socket of conn: TLS would first say farewell to a peer that
// may not read.
func hangUp(conn net.Conn) {
	if t, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = t.NetConn()
	}
	_ = conn.Close() // closed already is as good
}

// watchedOf finds the watched connection below layers of TLS, nil if there is none.
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
