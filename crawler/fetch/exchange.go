package fetch

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"

	"golang.org/x/net/http/httpguts"
)

// An exchange is the life of one request. The goroutine that runs it owns it;
// the transport's hooks touch its clock and its connection too.
type exchange struct {
	f      *Fetcher
	url    *url.URL
	req    Request
	clock  clock
	conn   conn
	answer answer
	spent  atomic.Bool // its one request went out and failed: nothing more may
	pace   *Pace       // of the body; own where nobody watches it
	own    Pace
	ahead  *bufio.Reader // the clone's, for the answer's reader
}

func newExchange(f *Fetcher, u *url.URL, req Request) *exchange {
	if req.MaxBodyBytes <= 0 {
		req.MaxBodyBytes = f.opt.MaxBodyBytes
	}
	ex := &exchange{f: f, url: u, req: req, pace: req.Pace}
	if ex.pace == nil {
		ex.pace = &ex.own
	}
	ex.clock.opt, ex.clock.pace, ex.answer.url = &f.opt, ex.pace, u
	return ex
}

type exchangeKey struct{}

// begin starts the clock and returns the context under which the exchange runs.
func (ex *exchange) begin(parent context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(parent)
	ctx = context.WithValue(ctx, exchangeKey{}, ex)
	ex.clock.start(cancel)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) {
			switch p := ex.clock.at(); {
			case p == phaseConnect:
			case p == phaseSent && !ex.conn.kept.untouched():
				// net/http tries again where a connection that it had kept ends
				// without an answer, on one kept connection after the other. The
				// server may have had the request each time: one exchange is one
				// request, and the crawler tries again after a rest.
				ex.spent.Store(true)
				ex.clock.cancel(&stateError{StateHeaderError, errors.New("connection closed after the request, without an answer")})
			default:
				ex.clock.enter(phaseConnect) // the request was not sent on a stale connection
			}
		},
		WroteRequest: func(info httptrace.WroteRequestInfo) {
			if info.Err == nil {
				ex.clock.enterFrom(phaseHeader, phaseSent)
			}
		},
		TLSHandshakeStart: func() {
			ex.clock.enterFrom(phaseConnect, phaseTLS)
		},
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			if err == nil {
				ex.clock.enterFrom(phaseTLS, phaseConnect)
			}
		},
		GotConn: func(info httptrace.GotConnInfo) {
			if ex.spent.Load() {
				hangUp(info.Conn) // net/http may take a connection before it sees that all is over
				return
			}
			ex.conn.kept = nil
			if info.Reused {
				ex.conn.kept = settle(info.Conn)
			}
			ex.clock.enter(phaseHeader)
			ex.conn.attend(info.Conn, &ex.clock)
			if tcp, ok := info.Conn.RemoteAddr().(*net.TCPAddr); ok && ex.f.opt.Proxy == nil {
				ex.conn.addr = tcp.AddrPort().Addr().Unmap()
			}
		},
	})
}

// end frees what begin took.
func (ex *exchange) end() {
	ex.clock.stop()
	ex.conn.leave()
}

func (ex *exchange) requestHeader() http.Header {
	accept := ex.f.accept
	if len(ex.req.Accept) > 0 {
		accept = []string{strings.Join(ex.req.Accept, ", ")}
	}
	h := http.Header{
		"Host":            {ex.url.Host}, // net/http would take Colly's spelling
		"User-Agent":      ex.f.userAgent,
		"Accept":          accept,
		"Accept-Encoding": ex.f.acceptGzip,
	}
	if cookie := ex.f.cookies.header(ex.url); cookie != "" {
		h.Set("Cookie", cookie)
	}
	if sendable(ex.req.ETag) {
		h.Set("If-None-Match", ex.req.ETag)
	}
	if sendable(ex.req.LastModified) {
		h.Set("If-Modified-Since", ex.req.LastModified)
	}
	if ex.f.opt.Signer != nil {
		ex.f.opt.Signer.Sign(h, ex.url)
	}
	return h
}

// maxValidatorBytes bounds a version that is sent back: the whole of a request's
// header may have 8 KiB with most servers.
const maxValidatorBytes = 2 << 10

// sendable says whether a version, which came from a server once, can be sent back.
func sendable(version string) bool {
	return version != "" && len(version) <= maxValidatorBytes && httpguts.ValidHeaderFieldValue(version)
}
