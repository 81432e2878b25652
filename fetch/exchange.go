package fetch

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http/httpguts"
)

// phase is how far an exchange has come. It decides which limit runs and what
// an error means.
type phase int

const (
	phaseConnect phase = iota // name, connection
	phaseTLS                  // handshake; under the limit of phaseConnect
	phaseHeader               // request being sent
	phaseSent                 // header awaited; under the limit of phaseHeader
	phaseBody                 // header judged, body being read
	phaseDrain                // an unwanted body's rest, read to keep the connection
)

// drainLimit bounds the time given to an unwanted body for the sake of its
// connection: a new connection costs about as much.
const drainLimit = 500 * time.Millisecond

// An exchange is the life of one request. The goroutine that runs it owns it,
// but for what mu guards, which timers and the transport's hooks touch too.
type exchange struct {
	f      *Fetcher
	url    *url.URL
	req    Request
	cancel context.CancelCauseFunc
	spent  atomic.Bool // its one request went out and failed: nothing more may
	pace   *Pace       // of the body; own where nobody watches it
	own    Pace

	mu        sync.Mutex
	phase     phase
	phaseEnd  time.Time // when the present limit is over
	deadline  time.Time // when Timeout is over
	bodyStart time.Time
	timer     *time.Timer
	armed     time.Time // when timer fires; never after phaseEnd

	// Set by the transport, the judge and Colly.
	status      int
	header      http.Header
	withheld    http.Header // fields of header that Colly does not get
	addr        netip.Addr
	conn        net.Conn
	watched     *watchedConn // below conn
	kept        *watchedConn // the connection in use, if it was kept from an exchange before
	reader      *bodyReader
	state       State // the judge's verdict, "" until then
	contentType string
	location    string
	why         error
	ahead       *bufio.Reader // the lane's, for reader
	body        []byte
}

func newExchange(f *Fetcher, u *url.URL, req Request) *exchange {
	if req.MaxBodyBytes <= 0 {
		req.MaxBodyBytes = f.opt.MaxBodyBytes
	}
	ex := &exchange{f: f, url: u, req: req, pace: req.Pace}
	if ex.pace == nil {
		ex.pace = &ex.own
	}
	return ex
}

type exchangeKey struct{}

// begin starts the clock and returns the context under which the exchange runs.
func (ex *exchange) begin(parent context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(parent)
	ex.cancel = cancel
	ctx = context.WithValue(ctx, exchangeKey{}, ex)
	ex.start()
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) {
			switch p := ex.at(); {
			case p == phaseConnect:
			case p == phaseSent && !ex.kept.untouched():
				// net/http tries again where a connection that it had kept ends
				// without an answer, on one kept connection after the other. The
				// server may have had the request each time: one exchange is one
				// request, and the crawler tries again after a rest.
				ex.spent.Store(true)
				ex.cancel(&stateError{StateHeaderError, errors.New("connection closed after the request, without an answer")})
			default:
				ex.enter(phaseConnect) // the request was not sent on a stale connection
			}
		},
		WroteRequest: func(info httptrace.WroteRequestInfo) {
			if info.Err == nil {
				ex.enterFrom(phaseHeader, phaseSent)
			}
		},
		TLSHandshakeStart: func() {
			ex.enterFrom(phaseConnect, phaseTLS)
		},
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			if err == nil {
				ex.enterFrom(phaseTLS, phaseConnect)
			}
		},
		GotConn: func(info httptrace.GotConnInfo) {
			if ex.spent.Load() {
				hangUp(info.Conn) // net/http may take a connection before it sees that all is over
				return
			}
			ex.kept = nil
			if info.Reused {
				ex.kept = settle(info.Conn)
			}
			ex.enter(phaseHeader)
			ex.attend(info.Conn)
			if tcp, ok := info.Conn.RemoteAddr().(*net.TCPAddr); ok && ex.f.opt.Proxy == nil {
				ex.addr = tcp.AddrPort().Addr().Unmap()
			}
		},
	})
}

// start sets the timer to the shortest limit there is. Later phases need not
// touch it: when it fires early it finds its phase's end moved, and goes on.
// Most exchanges are over before; setting a timer at every phase would wake the
// network poller each time and cost a tenth of a fast exchange.
func (ex *exchange) start() {
	opt := &ex.f.opt
	first := min(opt.Timeout, opt.ConnectTimeout, opt.HeaderTimeout, opt.RateGrace)
	ex.mu.Lock()
	defer ex.mu.Unlock()
	now := time.Now()
	ex.deadline, ex.armed = now.Add(opt.Timeout), now.Add(first)
	ex.timer = time.AfterFunc(first, ex.expire)
	ex.limit(now, opt.ConnectTimeout)
}

// end frees what begin took.
func (ex *exchange) end() {
	ex.timer.Stop()
	ex.cancel(nil)
	ex.leave()
}

// enter moves to phase p and starts its limit, under that of the whole.
func (ex *exchange) enter(p phase) {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	ex.phase = p
	now := time.Now()
	limit := ex.f.opt.ConnectTimeout
	switch p {
	case phaseHeader:
		limit = ex.f.opt.HeaderTimeout
	case phaseBody:
		limit = ex.f.opt.RateGrace
		ex.bodyStart = now
	case phaseDrain:
		limit = drainLimit
	}
	ex.limit(now, limit)
}

// enterFrom changes the phase without a new limit, if it is still from: hooks
// of a dial that lost the race to another connection come late.
func (ex *exchange) enterFrom(from, to phase) {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	if ex.phase == from {
		ex.phase = to
	}
}

// limit ends the phase after d, or at the deadline; mu is held.
func (ex *exchange) limit(now time.Time, d time.Duration) {
	ex.phaseEnd = now.Add(d)
	if ex.phaseEnd.After(ex.deadline) {
		ex.phaseEnd = ex.deadline
	}
	if ex.phaseEnd.Before(ex.armed) {
		ex.arm(now)
	}
}

// arm sets the timer to the phase's end; mu is held.
func (ex *exchange) arm(now time.Time) {
	ex.armed = ex.phaseEnd
	ex.timer.Reset(ex.phaseEnd.Sub(now))
}

// expire runs when a limit is over: it ends the exchange, unless the limit has
// moved meanwhile or the body comes fast enough.
func (ex *exchange) expire() {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	now := time.Now()
	if now.Before(ex.phaseEnd) {
		ex.arm(now)
		return
	}
	opt := &ex.f.opt
	if !now.Before(ex.deadline) {
		ex.cancel(&timeoutError{ex.phase, fmt.Sprintf("over the time limit of %v in all", opt.Timeout)})
		return
	}
	if ex.phase == phaseBody {
		least := float64(opt.MinRate) * now.Sub(ex.bodyStart).Seconds()
		if float64(ex.pace.wire.Load()) >= least {
			ex.limit(now, min(time.Second, opt.RateGrace)) // look again soon
			ex.arm(now)
			return
		}
		ex.cancel(&timeoutError{ex.phase, fmt.Sprintf("slower than %d bytes/s", opt.MinRate)})
		return
	}
	ex.cancel(&timeoutError{ex.phase, "over the time limit of its phase"})
}

// timeoutError is the cause with which a limit cancels an exchange.
type timeoutError struct {
	phase phase
	what  string
}

func (e *timeoutError) Error() string { return e.what }

// at returns the present phase.
func (ex *exchange) at() phase {
	ex.mu.Lock()
	defer ex.mu.Unlock()
	return ex.phase
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
	return h
}

// maxValidatorBytes bounds a version that is sent back: the whole of a request's
// header may have 8 KiB with most servers.
const maxValidatorBytes = 2 << 10

// sendable says whether a version, which came from a server once, can be sent back.
func sendable(version string) bool {
	return version != "" && len(version) <= maxValidatorBytes && httpguts.ValidHeaderFieldValue(version)
}
