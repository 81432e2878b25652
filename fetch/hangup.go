package fetch

import (
	"crypto/tls"
	"errors"
	"net"
	"sync/atomic"
)

// A server can misuse an HTTP/2 connection beyond the exchange: net/http ends a
// stream and keeps reading what comes, pings, settings, header blocks that never
// close, until the idle limit or, with the next exchange, for ever. So a
// connection on which an exchange went wrong is closed, and so is one on which
// much comes while nothing is asked.

// hangUp closes the HTTP/2 connection of an exchange that went wrong. It has no
// other stream: it belongs to one host, and a host has one exchange at a time.
func (ex *exchange) hangUp() {
	conn, ok := ex.conn.(*tls.Conn)
	if !ok || conn.ConnectionState().NegotiatedProtocol != "h2" {
		return // net/http has closed it, or given it to another exchange
	}
	hangUp(conn)
}

// hangUp closes the socket of conn: TLS would first say farewell to a peer that
// may not read.
func hangUp(conn net.Conn) {
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	_ = conn.Close() // closed already is as good
}

// attend takes note of the connection that the exchange runs on.
func (ex *exchange) attend(conn net.Conn) {
	ex.leave()
	ex.conn, ex.watched = conn, watchedOf(conn)
	if ex.watched != nil {
		ex.watched.meter.users.Add(1)
		ex.watched.meter.used.Store(true)
		ex.watched.meter.idle.Store(0)
	}
}

// leave ends what attend began; nothing when there is nothing to end.
func (ex *exchange) leave() {
	if ex.watched != nil {
		ex.watched.meter.users.Add(-1)
		ex.watched = nil
	}
}

// meter tells when more than maxIdleBytes come on a connection that no exchange
// uses: the rest of an unwanted body, or an attack.
type meter struct {
	used  atomic.Bool  // by an exchange: handshakes are over
	users atomic.Int32 // exchanges on it
	idle  atomic.Int64 // bytes that came without any
}

const maxIdleBytes = 64 << 10

var errUnasked = errors.New("the server sends without being asked")

// unasked counts n bytes that came and says whether they are too many.
func (m *meter) unasked(n int) bool {
	return m.users.Load() == 0 && m.used.Load() && m.idle.Add(int64(n)) > maxIdleBytes
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
