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
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocolly/colly/v2"
	"golang.org/x/net/http/httpguts"
)

// An exchange is one request from start to end. Its goroutine owns it; the transport's hooks
// touch only its clock and connection.
type exchange struct {
	f      *Fetcher
	url    *url.URL
	req    Request
	clock  clock
	conn   conn
	answer answer
	spent  atomic.Bool // its one request failed after it was sent: no retry
	pace   *Pace       // of the body; the exchange's own if nobody watches
	own    Pace
	ahead  *bufio.Reader // the clone's buffer for the body
	most   int64         // bytes of the body, set by the header
}

func newExchange(f *Fetcher, u *url.URL, req Request) *exchange {
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
				// net/http retries when a kept connection ends without an answer. The server
				// may have received each request, so an exchange sends one; the crawler
				// retries after a rest.
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
				hangUp(info.Conn) // net/http may take a connection before it notices the end
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
		"Host":            {ex.url.Host}, // net/http would send Colly's spelling
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

// maxValidatorBytes bounds a validator that is sent back: most servers accept 8 KiB of header.
const maxValidatorBytes = 2 << 10

// sendable reports whether a server's validator can be sent back.
func sendable(version string) bool {
	return version != "" && len(version) <= maxValidatorBytes && httpguts.ValidHeaderFieldValue(version)
}

// A clone of a Colly collector makes one exchange at a time; clones are pooled. Clones share
// the HTTP client only. Each has its own context, for cancelling, and its own callbacks, which
// find their exchange without a lock.
type clone struct {
	collector *colly.Collector
	ctx       *colly.Context // Colly demands one; ours stays empty
	ex        *exchange      // the present exchange
	ahead     *bufio.Reader  // for its body
}

// newCollector returns the collector to clone. It uses Colly for the exchange alone;
// docs/fetch.md says why Colly's robots, redirects, charsets and limits do not fit.
func newCollector(rt http.RoundTripper) *colly.Collector {
	// Not NewCollector, which obeys COLLY_* in the environment.
	c := new(colly.Collector)
	c.Init()
	c.IgnoreRobotsTxt = true
	c.AllowURLRevisit = true
	c.ParseHTTPErrorResponse = true          // answer.judge decides which status is an error
	c.MaxBodySize = 0                        // bodyReader refuses a body that this would cut
	c.SetClient(&http.Client{Transport: rt}) // without its jar and time limit
	return c
}

func newClone(base *colly.Collector) *clone {
	l := &clone{collector: base.Clone(), ctx: colly.NewContext(), ahead: bufio.NewReaderSize(nil, aheadBytes)}
	l.collector.OnRequest(func(r *colly.Request) {
		// Send the URL exactly as robots.txt was checked for it, not in Colly's spelling.
		*r.URL = *l.ex.url
	})
	l.collector.OnResponseHeaders(func(r *colly.Response) {
		ex := l.ex
		ex.answer.status, ex.answer.header = r.StatusCode, *r.Headers
		wanted := ex.judge()
		if wanted && ex.req.Stream != nil {
			ex.req.Stream(ex.answer.reader)
		}
		if !wanted || ex.req.Stream != nil {
			r.Request.Abort() // closes the body, read or not
		}
	})
	l.collector.OnResponse(func(r *colly.Response) { l.ex.answer.body = r.Body })
	return l
}

// run makes the exchange on the caller's goroutine: the request passes through OnRequest to
// gate; OnResponseHeaders judges the answer, which then reaches OnResponse.
func (l *clone) run(ctx context.Context, ex *exchange) (err error) {
	l.ex, ex.ahead = ex, l.ahead
	l.collector.Context = ctx
	defer func() {
		l.ex, l.collector.Context = nil, context.Background()
		l.ahead.Reset(nil)
		ex.answer.giveBack()
		// URLs and bytes from strangers pass through foreign parsers; a panic there must end
		// this exchange only.
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: panic in the exchange: %v", ex.url, p)
		}
	}()
	err = l.collector.Request(http.MethodGet, ex.url.String(), nil, l.ctx, ex.requestHeader())
	switch aborted := errors.Is(err, colly.ErrAbortedAfterHeaders); { // on our request
	case aborted && ex.answer.state != StateOK:
		return nil // the header decided, whatever became of the body
	case aborted:
		return ex.answer.reader.failed()
	}
	return err
}

// phase is the progress of an exchange. It selects the limit and the meaning of an error.
type phase int

const (
	phaseConnect phase = iota // name, connection
	phaseTLS                  // handshake; under the limit of phaseConnect
	phaseHeader               // sending the request
	phaseSent                 // awaiting the header; under the limit of phaseHeader
	phaseBody                 // reading the wanted body
	phaseDrain                // reading an unwanted body's rest to keep the connection
)

// drainLimit bounds the time for an unwanted body, about the cost of a new connection.
const drainLimit = 500 * time.Millisecond

// clock enforces an exchange's time limits. It is safe for concurrent use by timers and the
// transport's hooks.
type clock struct {
	opt  *Options
	pace *Pace // of the body

	mu        sync.Mutex // guards the rest
	cancel    context.CancelCauseFunc
	phase     phase
	phaseEnd  time.Time // when the present limit ends
	deadline  time.Time // when Timeout ends
	bodyStart time.Time
	timer     *time.Timer
	armed     time.Time // when timer fires; never after phaseEnd
}

// start sets the timer to the shortest limit. When it fires early, the clock finds its phase's
// end moved and sets it again. Setting a timer at every phase would cost a tenth of a fast
// exchange.
func (c *clock) start(cancel context.CancelCauseFunc) {
	opt := c.opt
	first := min(opt.Timeout, opt.ConnectTimeout, opt.HeaderTimeout, opt.RateGrace)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel = cancel
	now := time.Now()
	c.deadline, c.armed = now.Add(opt.Timeout), now.Add(first)
	c.timer = time.AfterFunc(first, c.expire)
	c.limit(now, opt.ConnectTimeout)
}

// enter starts phase p and its limit, within the limit of the whole.
func (c *clock) enter(p phase) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.phase = p
	now := time.Now()
	limit := c.opt.ConnectTimeout
	switch p {
	case phaseHeader:
		limit = c.opt.HeaderTimeout
	case phaseBody:
		limit = c.opt.RateGrace
		c.bodyStart = now
	case phaseDrain:
		limit = drainLimit
	}
	c.limit(now, limit)
}

// enterFrom changes the phase only if it is still from, without a new limit: hooks of a dial
// that lost the race come late.
func (c *clock) enterFrom(from, to phase) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.phase == from {
		c.phase = to
	}
}

// limit ends the phase after d, or at the deadline; mu is held.
func (c *clock) limit(now time.Time, d time.Duration) {
	c.phaseEnd = now.Add(d)
	if c.phaseEnd.After(c.deadline) {
		c.phaseEnd = c.deadline
	}
	if c.phaseEnd.Before(c.armed) {
		c.arm(now)
	}
}

// arm sets the timer to the phase's end; mu is held.
func (c *clock) arm(now time.Time) {
	c.armed = c.phaseEnd
	c.timer.Reset(c.phaseEnd.Sub(now))
}

// expire ends the exchange at a limit, unless the limit has moved or the body is fast enough.
func (c *clock) expire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if now.Before(c.phaseEnd) {
		c.arm(now)
		return
	}
	if !now.Before(c.deadline) {
		c.cancel(&timeoutError{c.phase, fmt.Sprintf("over the time limit of %v in all", c.opt.Timeout)})
		return
	}
	if c.phase == phaseBody {
		least := float64(c.opt.MinRate) * now.Sub(c.bodyStart).Seconds()
		if float64(c.pace.wire.Load()) >= least {
			c.limit(now, min(time.Second, c.opt.RateGrace)) // check again soon
			c.arm(now)
			return
		}
		c.cancel(&timeoutError{c.phase, fmt.Sprintf("slower than %d bytes/s", c.opt.MinRate)})
		return
	}
	c.cancel(&timeoutError{c.phase, "over the time limit of its phase"})
}

// timeoutError is the cause of a cancellation by a limit.
type timeoutError struct {
	phase phase
	what  string
}

func (e *timeoutError) Error() string { return e.what }

func (c *clock) at() phase {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.phase
}

// stop ends the clock of a finished exchange.
func (c *clock) stop() {
	c.timer.Stop()
	c.cancel(nil)
}

// flooded ends the exchange because its server sends too much of a body. Before the body is
// read, the connection's error ends it: net/http then still returns a header that came first.
func (c *clock) flooded() {
	if p := c.at(); p == phaseBody || p == phaseDrain {
		c.cancel(&stateError{StateTooLarge, fmt.Errorf("%w, most of them in frames, chunks or padding around the body", errFlood)})
	}
}

// Pace is the progress of an exchange's body. The zero value is ready; it is safe for
// concurrent use.
type Pace struct {
	wire, held atomic.Int64
}

// WireBytes returns the received bytes of the body, before decompression.
func (p *Pace) WireBytes() int64 { return p.wire.Load() }

// HeldBytes returns the bytes of the body in memory; none of a streamed one.
func (p *Pace) HeldBytes() int64 { return p.held.Load() }

// ErrPlaceWanted is the cause with which a caller cancels a slow exchange; the state is its
// phase's time-out.
var ErrPlaceWanted = errors.New("the slowest download, dropped while other requests waited for a place")

// report writes the outcome into resp; err is the exchange's error.
func (ex *exchange) report(ctx context.Context, err error, resp *Response) {
	a := &ex.answer
	resp.Code, resp.Header, resp.Addr = a.status, a.header, ex.conn.addr
	resp.ContentType, resp.Location = a.contentType, a.location
	resp.Wire, resp.WireBytes = a.wire, ex.pace.wire.Load()
	if after := a.header.Get("Retry-After"); after != "" {
		resp.RetryAfter = parseRetryAfter(after, ex.f.opt.Now())
	}
	if a.state == StateOK && err == nil {
		a.challenged(a.body)
	}
	resp.State, resp.Err = a.state, a.why
	if err != nil {
		ex.conn.hangUp()
		resp.State = ex.stateOf(ctx, err)
		resp.Err = fmt.Errorf("%s: %w", ex.url, cause(ctx, err))
	}
	if resp.State == StateOK {
		resp.Body, resp.Note = a.body, a.note
	}
}

// cause prefers the reason of a cancellation over the error that it led to.
func cause(ctx context.Context, err error) error {
	if c := context.Cause(ctx); c != nil {
		return c
	}
	var ue *url.Error
	if errors.As(err, &ue) {
		return ue.Err // "Get URL:" would be repeated
	}
	return err
}

// stateOf returns the state of err: its own, or else that of an error in its phase.
func (ex *exchange) stateOf(ctx context.Context, err error) State {
	var late *timeoutError
	if errors.As(context.Cause(ctx), &late) {
		return lateIn(late.phase)
	}
	if errors.Is(context.Cause(ctx), ErrPlaceWanted) {
		return lateIn(ex.clock.at())
	}
	var known *stateError
	if errors.As(context.Cause(ctx), &known) || ctx.Err() == nil && errors.As(err, &known) {
		return known.state
	}
	if ctx.Err() != nil {
		return StateNone // the caller cancelled it
	}
	p := ex.clock.at()
	if isTimeout(err) { // also a look-up's own limit, which may end just before the phase's
		return lateIn(p)
	}
	if p == phaseConnect && !sent(err) {
		return StateNone
	}
	if p == phaseHeader || p == phaseSent {
		var op *net.OpError
		if errors.As(err, &op) && op.Op == "remote error" {
			return StateTLSError // an alert: in TLS 1.3 the server judges after our handshake
		}
	}
	return brokenIn(p)
}

// lateIn returns the state of a time-out in p.
func lateIn(p phase) State {
	switch p {
	case phaseConnect, phaseTLS:
		return StateConnectTimeout
	case phaseHeader, phaseSent:
		return StateHeaderTimeout
	}
	return StateBodyTimeout
}

// brokenIn returns the state of a failure in p.
func brokenIn(p phase) State {
	switch p {
	case phaseConnect:
		return StateConnectError
	case phaseTLS:
		return StateTLSError
	case phaseHeader, phaseSent:
		return StateHeaderError
	}
	return StateBodyError
}

// sent distinguishes net/http's errors from earlier ones: Colly refuses some hosts, as
// browsers do, without a request.
func sent(err error) bool {
	var ue *url.Error
	return errors.As(err, &ue) && ue.Op != "parse"
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

// A stateError is an error with its state.
type stateError struct {
	state State
	err   error
}

func (e *stateError) Error() string { return e.err.Error() }
func (e *stateError) Unwrap() error { return e.err }

// StateOf returns the state of an error from this package, such as no_ip or guard_denied of
// Resolve. Other errors mean connect_error, nil ok.
func StateOf(err error) State {
	var known *stateError
	switch {
	case err == nil:
		return StateOK
	case errors.As(err, &known):
		return known.state
	}
	return StateConnectError
}
