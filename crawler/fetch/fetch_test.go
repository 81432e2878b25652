package fetch

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"
)

var loopback = netip.MustParsePrefix("127.0.0.0/8")

// newTest returns a fetcher that may dial loopback, closed with the test.
func newTest(t testing.TB, opt Options) *Fetcher {
	t.Helper()
	if opt.AllowNet == nil {
		opt.AllowNet = []netip.Prefix{loopback}
	}
	f, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

func serve(t testing.TB, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv
}

func TestFetchOK(t *testing.T) {
	var got http.Header
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		w.Header().Set("Content-Type", "text/html; charset=iso-8859-1")
		w.Write([]byte("<p>caf\xe9</p>"))
	})
	f := newTest(t, Options{UserAgent: UserAgent("fossick", "1", "https://example.org/bot")})
	resp := f.Fetch(t.Context(), Request{URL: srv.URL + "/a%7Eb?q=1#frag"})
	if resp.State != StateOK || resp.Code != 200 || resp.Err != nil {
		t.Fatalf("got %s %d %v, want ok 200", resp.State, resp.Code, resp.Err)
	}
	if string(resp.Body) != "<p>caf\xe9</p>" {
		t.Errorf("body %q is not what was sent: it must not be recoded", resp.Body)
	}
	if resp.ContentType != "text/html; charset=iso-8859-1" {
		t.Errorf("content type %q", resp.ContentType)
	}
	if resp.Addr != netip.MustParseAddr("127.0.0.1") || resp.WireBytes != 11 || resp.Took <= 0 {
		t.Errorf("addr %v, wire %d, took %v", resp.Addr, resp.WireBytes, resp.Took)
	}
	if ua := got.Get("User-Agent"); ua != "fossick/1 (+https://example.org/bot)" {
		t.Errorf("user agent %q", ua)
	}
}

func TestFetchCancelled(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	f := newTest(t, Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if resp := f.Fetch(ctx, Request{URL: srv.URL}); resp.State != StateNone || resp.Err == nil {
		t.Errorf("got %s %v, want none: the caller broke it off", resp.State, resp.Err)
	}
}

// TestFetchCancelledInBody: while Colly reads, and while a stream does, an exchange
// ends with its context.
func TestFetchCancelledInBody(t *testing.T) {
	for name, stream := range map[string]func(io.Reader){
		"page":   nil,
		"stream": func(body io.Reader) { _, _ = io.Copy(io.Discard, body) },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		at := rawServer(t, false, func(c net.Conn) {
			say(chunkedHTML + "5\r\n<p>hi\r\n")(c)
			cancel()
			hang(c)
		})
		resp := newTest(t, Options{RateGrace: time.Minute}).Fetch(ctx, Request{URL: "http://" + at, Stream: stream})
		if resp.State != StateNone || resp.Body != nil || !errors.Is(resp.Err, context.Canceled) {
			t.Errorf("%s: got %s %q %v, want none", name, resp.State, resp.Body, resp.Err)
		}
	}
}
