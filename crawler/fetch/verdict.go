package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
)

// report writes the outcome into resp. err is what the exchange returned.
func (ex *exchange) report(ctx context.Context, err error, resp *Response) {
	a := &ex.answer
	resp.Code, resp.Header, resp.Addr = a.status, a.header, ex.conn.addr
	resp.ContentType, resp.Location = a.contentType, a.location
	resp.Wire, resp.WireBytes = a.wire, ex.pace.wire.Load()
	if after := a.header.Get("Retry-After"); after != "" {
		resp.RetryAfter = parseRetryAfter(after, ex.f.opt.Now())
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

// cause prefers the reason for which the context was cancelled over the error
// that the cancelling led to.
func cause(ctx context.Context, err error) error {
	if c := context.Cause(ctx); c != nil {
		return c
	}
	var ue *url.Error
	if errors.As(err, &ue) {
		return ue.Err // "Get URL:" would stand there twice
	}
	return err
}

// stateOf names the state that err means: what the error itself knows, else
// what an error in its phase means.
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
		return StateNone // the caller broke it off
	}
	p := ex.clock.at()
	if p == phaseConnect && !sent(err) {
		return StateNone
	}
	if isTimeout(err) {
		return lateIn(p)
	}
	if p == phaseHeader || p == phaseSent {
		var op *net.OpError
		if errors.As(err, &op) && op.Op == "remote error" {
			return StateTLSError // an alert: in TLS 1.3 the server judges after our handshake is over
		}
	}
	return brokenIn(p)
}

// lateIn is the state of an exchange that ran out of time in p.
func lateIn(p phase) State {
	switch p {
	case phaseConnect, phaseTLS:
		return StateConnectTimeout
	case phaseHeader, phaseSent:
		return StateHeaderTimeout
	}
	return StateBodyTimeout
}

// brokenIn is the state of an exchange that broke in p.
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

// sent tells errors of net/http from those before it: Colly refuses a host that
// browsers would refuse without any request.
func sent(err error) bool {
	var ue *url.Error
	return errors.As(err, &ue) && ue.Op != "parse"
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

// A stateError is an error that knows the state it means.
type stateError struct {
	state State
	err   error
}

func (e *stateError) Error() string { return e.err.Error() }
func (e *stateError) Unwrap() error { return e.err }

// StateOf returns the state that an error of this package means: no_ip and
// guard_denied of Resolve, for example. Other errors mean connect_error, nil ok.
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
