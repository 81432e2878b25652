package fetch

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http/httptrace"
	"net/url"
	"testing"
	"time"
)

// An exchange whose request went out opens no further connection, and sends
// nothing on one that net/http hands it before it sees that all is over.
func TestSpentExchange(t *testing.T) {
	opt, _, _ := h2Server(t, func(p *h2Peer, s uint32) bool { p.answer(s); return true })
	f := newTest(t, opt)
	dial := f.transport.DialContext
	addr := "example.com:443"

	ex := newExchange(f, &url.URL{Scheme: "https", Host: "example.com", Path: "/"}, Request{})
	ctx := ex.begin(t.Context())
	defer ex.end()
	conn, err := dial(ctx, "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	hooks := httptrace.ContextClientTrace(ctx)
	hooks.GetConn(addr)
	hooks.GotConn(httptrace.GotConnInfo{Conn: conn})
	hooks.WroteRequest(httptrace.WroteRequestInfo{})
	if ctx.Err() != nil {
		t.Fatal("over too early:", context.Cause(ctx))
	}
	hooks.GetConn(addr) // a second try
	if state := StateOf(context.Cause(ctx)); state != StateHeaderError {
		t.Errorf("a second try: %v", context.Cause(ctx))
	}
	more, err := dial(context.WithoutCancel(ctx), "tcp", addr) // as net/http dials
	if err == nil {
		more.Close()
		t.Error("dialled for an exchange that had its request")
	}
	idle, other := net.Pipe()
	defer other.Close()
	hooks.GotConn(httptrace.GotConnInfo{Conn: idle, Reused: true})
	idle.SetWriteDeadline(time.Now().Add(time.Second)) // nobody reads the other end
	if _, err := idle.Write([]byte("GET")); !errors.Is(err, io.ErrClosedPipe) {
		t.Error("a second request could have gone out")
	}
}
