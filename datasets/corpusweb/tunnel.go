package corpusweb

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// tunnels serves https inside CONNECT. The connections that clients open with it
// are handed to a second http.Server, of which tunnels is the listener.
type tunnels struct {
	web    *Web
	server *http.Server
	conns  chan net.Conn
	closed chan struct{}
	served chan error // what the second server ended with

	once sync.Once // closes closed
}

func newTunnels(w *Web) *tunnels {
	t := &tunnels{web: w, conns: make(chan net.Conn), closed: make(chan struct{}), served: make(chan error, 1)}
	t.server = newServer(w)
	go func() { t.served <- t.server.Serve(t) }()
	return t
}

// headerTimeout is how long a client may take to send a request's header, or to
// shake hands; idleTimeout is how long a connection waits for its next request.
const (
	headerTimeout = time.Minute
	idleTimeout   = 2 * time.Minute
)

// newServer returns a server of w. What it would log are clients' broken
// connections, which are the clients' affair.
func newServer(w *Web) *http.Server {
	return &http.Server{Handler: w, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, ErrorLog: log.New(io.Discard, "", 0)}
}

// connect answers CONNECT host:port: it takes the connection over and speaks TLS
// on it under the host's name.
func (t *tunnels) connect(rw http.ResponseWriter, r *http.Request) {
	name, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		problem(rw, http.StatusBadRequest, "CONNECT needs host:port")
		return
	}
	if _, ok := t.web.hosts[hostName(r.Host)]; !ok {
		problem(rw, http.StatusBadGateway, "host "+r.Host+" is not in the corpus")
		return
	}
	conn, buffered, err := http.NewResponseController(rw).Hijack()
	if err != nil {
		problem(rw, http.StatusHTTPVersionNotSupported, "CONNECT works over HTTP/1.1 only")
		return
	}
	if _, err := io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		conn.Close() // the client is gone
		return
	}
	if f := t.web.faults.pick(onTLS, hostName(r.Host)); f != nil {
		if bad := t.badTLS(f, conn, name); bad != nil {
			t.serve(conn, buffered.Reader, bad)
		}
		return
	}
	t.serve(conn, buffered.Reader, &tls.Config{
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			if hello.ServerName != "" {
				return t.web.ca.certificate(hello.ServerName)
			}
			return t.web.ca.certificate(name)
		},
		NextProtos: []string{"http/1.1"},
	})
}

// serve hands a connection to the second server.
func (t *tunnels) serve(conn net.Conn, ahead *bufio.Reader, config *tls.Config) {
	select {
	case t.conns <- tls.Server(&early{conn, ahead}, config):
	case <-t.closed:
		conn.Close() // nothing was promised on it yet
	}
}

// early is a connection of which some bytes were read ahead already.
type early struct {
	net.Conn
	ahead *bufio.Reader
}

func (e *early) Read(b []byte) (int, error) { return e.ahead.Read(b) }

// Accept, Close and Addr make tunnels the listener of its server.

func (t *tunnels) Accept() (net.Conn, error) {
	select {
	case c := <-t.conns:
		return c, nil
	case <-t.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (t *tunnels) Close() error {
	t.once.Do(func() { close(t.closed) })
	return nil
}

// Addr is asked for by net.Listener and means nothing here.
func (t *tunnels) Addr() net.Addr { return &net.TCPAddr{} }

// shutdown lets requests under way finish until ctx ends.
func (t *tunnels) shutdown(ctx context.Context) error { return t.server.Shutdown(ctx) }

// close ends all tunnels and waits for the server.
func (t *tunnels) close() error {
	err := errors.Join(t.Close(), t.server.Close())
	if e := <-t.served; !errors.Is(e, http.ErrServerClosed) && !errors.Is(e, net.ErrClosed) {
		err = errors.Join(err, e)
	}
	return err
}
