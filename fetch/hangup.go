package fetch

import (
	"crypto/tls"
	"net"
)

// A server can misuse an HTTP/2 connection beyond the exchange: net/http ends a
// stream and keeps reading what comes, pings, settings, header blocks that never
// close, until the idle limit or, with the next exchange, for ever. So a
// connection on which an exchange went wrong is closed, and so is one on which
// much comes while nothing is asked.

// hangUp closes the HTTP/2 connection of an exchange that went wrong. It has no
// other stream: it belongs to one host, and a host has one exchange at a time.
func (ex *exchange) hangUp() {
	if isHTTP2(ex.conn) { // others net/http has closed, or given to another exchange
		hangUp(ex.conn)
	}
}

func isHTTP2(conn net.Conn) bool {
	t, ok := conn.(*tls.Conn)
	return ok && t.ConnectionState().NegotiatedProtocol == "h2"
}

// hangUp closes the socket of conn: TLS would first say farewell to a peer that
// may not read.
func hangUp(conn net.Conn) {
	if t, ok := conn.(*tls.Conn); ok {
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
