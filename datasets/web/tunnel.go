package web

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// tunnels serves https inside CONNECT: it is the listener of a second http.Server, to which it hands
// the tunnelled connections.
type tunnels struct {
	web    *Web
	server *http.Server
	conns  chan net.Conn
	closed chan struct{}
	served chan error // final error of the second server

	once sync.Once // closes closed
}

func newTunnels(w *Web) *tunnels {
	t := &tunnels{web: w, conns: make(chan net.Conn), closed: make(chan struct{}), served: make(chan error, 1)}
	t.server = newServer(w)
	go func() { t.served <- t.server.Serve(t) }()
	return t
}

// headerTimeout limits a client's request header or handshake; idleTimeout limits the wait for the
// next request.
const (
	headerTimeout = time.Minute
	idleTimeout   = 2 * time.Minute
)

// newServer returns a silent server: it would only log the clients' broken connections.
func newServer(w *Web) *http.Server {
	return &http.Server{Handler: w, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, ErrorLog: log.New(io.Discard, "", 0)}
}

// connect answers CONNECT host:port, and speaks TLS on the connection under the host's name.
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
		bad := f.shake(&handshake{conn, name, t.web.ca, t.web.held})
		if bad == nil {
			conn.Close()
			return
		}
		bad.NextProtos = []string{"http/1.1"}
		t.serve(conn, buffered.Reader, bad)
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
		conn.Close() // no answer is promised on it yet
	}
}

// early is a connection of which some bytes were already read.
type early struct {
	net.Conn
	ahead *bufio.Reader
}

func (e *early) Read(b []byte) (int, error) { return e.ahead.Read(b) }

// Accept implements net.Listener, as Close and Addr do.

func (t *tunnels) Accept() (net.Conn, error) {
	select {
	case c := <-t.conns:
		return c, nil
	case <-t.closed:
		return nil, net.ErrClosed
	}
}

func (t *tunnels) Close() error {
	t.once.Do(func() { close(t.closed) })
	return nil
}

// Addr returns a dummy address.
func (t *tunnels) Addr() net.Addr { return &net.TCPAddr{} }

func (t *tunnels) shutdown(ctx context.Context) error { return t.server.Shutdown(ctx) }

func (t *tunnels) close() error {
	err := errors.Join(t.Close(), t.server.Close())
	if e := <-t.served; !errors.Is(e, http.ErrServerClosed) && !errors.Is(e, net.ErrClosed) {
		err = errors.Join(err, e)
	}
	return err
}

// maxLeaves bounds the certificate cache; recreating one takes 0.1 ms.
const maxLeaves = 1024

// authority signs host certificates. Its key lives only as long as the server, so a client that keeps
// trusting it is not at risk.
type authority struct {
	file string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	leaf *ecdsa.PrivateKey // shared by all hosts, as one server serves them

	mu     sync.Mutex // guards leaves
	leaves map[string]*tls.Certificate
}

// newAuthority writes the authority's certificate as PEM to a temporary file.
func newAuthority() (a *authority, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("certificate authority: %w", err)
		}
	}()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	leaf, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial(),
		Subject:      pkix.Name{CommonName: "fossick serve, for this run only"},
		NotBefore:    time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(1, 0, 0),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp("", "fossick-ca-*.pem")
	if err != nil {
		return nil, fmt.Errorf("%w; set TMPDIR to a folder that can be written", err)
	}
	if err := errors.Join(pem.Encode(f, &pem.Block{Type: "CERTIFICATE", Bytes: der}), f.Close()); err != nil {
		return nil, errors.Join(err, os.Remove(f.Name()))
	}
	return &authority{file: f.Name(), cert: cert, key: key, leaf: leaf, leaves: map[string]*tls.Certificate{}}, nil
}

func (a *authority) close() error {
	if err := os.Remove(a.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("certificate authority: %w", err)
	}
	return nil
}

func (a *authority) certificate(name string) (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c, ok := a.leaves[name]; ok {
		return c, nil
	}
	template := leafTemplate(name)
	template.NotBefore, template.NotAfter = a.cert.NotBefore, a.cert.NotAfter
	c, err := a.sign(template, a.cert, a.leaf, a.key)
	if err != nil {
		return nil, fmt.Errorf("certificate of %s: %w", name, err)
	}
	if len(a.leaves) >= maxLeaves {
		clear(a.leaves) // rare, and simpler than LRU
	}
	a.leaves[name] = c
	return c, nil
}

// leafTemplate returns a host's certificate without its validity period.
func leafTemplate(name string) *x509.Certificate {
	template := &x509.Certificate{
		SerialNumber: serial(),
		Subject:      pkix.Name{Organization: []string{"fossick serve"}},
		KeyUsage:     x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if ip := net.ParseIP(name); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{name}
	}
	return template
}

// sign issues a certificate for key, signed with the parent's key.
func (a *authority) sign(template, parent *x509.Certificate, key, by *ecdsa.PrivateKey) (*tls.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

func serial() *big.Int {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	b[0] &= 0x7f
	return new(big.Int).SetBytes(b[:])
}

// held tracks the connections that faults have hijacked, so that shutdown can close them. It is safe
// for concurrent use.
type held struct {
	quit chan struct{} // closed by drop to end running faults

	mu      sync.Mutex // guards the rest
	conns   map[net.Conn]struct{}
	closing bool
}

func newHeld() *held { return &held{quit: make(chan struct{}), conns: map[net.Conn]struct{}{}} }

// add registers a connection. It returns false if the web is closing.
func (h *held) add(c net.Conn) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closing {
		return false
	}
	h.conns[c] = struct{}{}
	return true
}

func (h *held) release(c net.Conn) {
	h.mu.Lock()
	delete(h.conns, c)
	h.mu.Unlock()
	c.Close()
}

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
