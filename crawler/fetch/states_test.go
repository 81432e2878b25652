package fetch

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/flate"

	"fossick/internal/testkit"
)

// rawServer passes connections on loopback to answer, after reading the request unless early. It
// returns "127.0.0.1:port".
func rawServer(t testing.TB, early bool, answer func(c net.Conn)) string {
	t.Helper()
	ln := testkit.Call(net.Listen("tcp", "127.0.0.1:0")).Must(t)
	done := make(chan struct{})
	t.Cleanup(func() { close(done); ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				go func() { <-done; c.Close() }() // no handler survives the test
				if !early {
					if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
						return
					}
				}
				answer(c)
			}()
		}
	}()
	return ln.Addr().String()
}

// hang keeps the connection open and silent until the client gives up.
func hang(c net.Conn) { io.Copy(io.Discard, c) }

// say answers with text.
func say(text string) func(net.Conn) {
	return func(c net.Conn) { io.WriteString(c, text) }
}

// drip sends first, and then what every 5 ms until the client leaves.
func drip(first, what string) func(net.Conn) {
	return func(c net.Conn) {
		io.WriteString(c, first)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for range tick.C {
			if _, err := io.WriteString(c, what); err != nil {
				return
			}
		}
	}
}

// reset closes the connection with a RST.
func reset(text string) func(net.Conn) {
	return func(c net.Conn) {
		io.WriteString(c, text)
		c.(*net.TCPConn).SetLinger(0)
	}
}

// endless sends first and then what for ever.
func endless(first, what string) func(net.Conn) {
	return func(c net.Conn) {
		io.WriteString(c, first)
		for {
			if _, err := io.WriteString(c, what); err != nil {
				return
			}
		}
	}
}

func compressed(b []byte, by func(io.Writer) io.WriteCloser) string {
	var z bytes.Buffer
	w := by(&z)
	w.Write(b)
	w.Close()
	return z.String()
}

func gzipped(b []byte) string {
	return compressed(b, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
}

func bareDeflate(w io.Writer) io.WriteCloser {
	z, _ := flate.NewWriter(w, 6) // the level is valid
	return z
}

func answer200(header, body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n%sContent-Length: %d\r\n\r\n%s", header, len(body), body)
}

const chunkedHTML = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"

var samplePage = []byte("<!doctype html><title>p</title>" + strings.Repeat("<p>words", 200))

// impatient has limits short enough for a test.
var impatient = Options{
	Timeout:        800 * time.Millisecond,
	ConnectTimeout: 300 * time.Millisecond,
	HeaderTimeout:  150 * time.Millisecond,
	RateGrace:      100 * time.Millisecond,
	MinRate:        10_000,
	MaxHeaderBytes: 8 << 10,
	MaxBodyBytes:   64 << 10,
}

// limitsFor returns impatient only if a timeout is expected.
func limitsFor(want State) Options {
	opt := impatient
	if !strings.HasSuffix(string(want), "_timeout") {
		opt.Timeout, opt.ConnectTimeout, opt.HeaderTimeout = time.Minute, time.Minute, time.Minute
	}
	return opt
}

// TestStates reaches every final state of an exchange through a misbehaving server.
func TestStates(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n" + strings.Repeat("\x00", 600)
	half := gzipped(samplePage)[:len(gzipped(samplePage))/2]
	flipped := []byte(gzipped(samplePage))
	flipped[len(flipped)/2] ^= 0xff
	for _, c := range []struct {
		name   string
		answer func(net.Conn)
		want   State
		code   int
		body   string
	}{
		{"length", say(answer200("", string(samplePage))), StateOK, 200, string(samplePage)},
		{"chunked", say(chunkedHTML + "5\r\n<p>hi\r\n4;x=y\r\n you\r\n0\r\n\r\n"), StateOK, 200, "<p>hi you"},
		{"until close", say("HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<p>old"), StateOK, 200, "<p>old"},
		{"empty", say(answer200("", "")), StateOK, 200, ""},
		{"empty and no type", say("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), StateOK, 200, ""},
		{"gzip", say(answer200("Content-Encoding: gzip\r\n", gzipped(samplePage))), StateOK, 200, string(samplePage)},
		{"x-gzip", say(answer200("Content-Encoding: X-GZip\r\n", gzipped(samplePage))), StateOK, 200, string(samplePage)},
		{"no coding called one", say(answer200("Content-Encoding: none\r\n", string(samplePage))), StateOK, 200, string(samplePage)},
		{"charset called a coding", say(answer200("Content-Encoding: UTF-8\r\n", string(samplePage))), StateOK, 200, string(samplePage)},
		{"gzip in members", say(answer200("Content-Encoding: gzip\r\n", gzipped(samplePage[:99])+gzipped(samplePage[99:]))), StateOK, 200, string(samplePage)},
		{"gzip and junk", say(answer200("Content-Encoding: gzip\r\n", gzipped(samplePage)+"junk after the end")), StateOK, 200, string(samplePage)},
		{"gzip of nothing", say(answer200("Content-Encoding: gzip\r\n", "")), StateOK, 200, ""},
		{"deflate, zlib", say(answer200("Content-Encoding: deflate\r\n", compressed(samplePage, func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }))), StateOK, 200, string(samplePage)},
		{"deflate, bare", say(answer200("Content-Encoding: deflate\r\n", compressed(samplePage, bareDeflate))), StateOK, 200, string(samplePage)},
		{"sniffed", say("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n<html>x"), StateOK, 200, "<html>x"},
		{"sniffed, gzip", say(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", len(gzipped(samplePage)), gzipped(samplePage))), StateOK, 200, string(samplePage)},
		{"nonsense type", say("HTTP/1.1 200 OK\r\nContent-Type: html\r\nContent-Length: 7\r\n\r\n<html>x"), StateOK, 200, "<html>x"},
		{"broken parameter", say("HTTP/1.1 200 OK\r\nContent-Type: Text/HTML; charset=\"utf\r\nContent-Length: 7\r\n\r\n<html>x"), StateOK, 200, "<html>x"},
		{"early hints", say("HTTP/1.1 103 Early Hints\r\n\r\n" + answer200("", "<p>x")), StateOK, 200, "<p>x"},
		{"drip above the least rate", func(c net.Conn) {
			io.WriteString(c, "HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n")
			for range 40 { // 200 ms, longer than RateGrace, at about 100 kB/s
				io.WriteString(c, strings.Repeat("x", 500))
				time.Sleep(5 * time.Millisecond)
			}
		}, StateOK, 200, strings.Repeat("x", 20000)},

		{"not asked for 304", say("HTTP/1.1 304 Not Modified\r\n\r\n"), StateCode, 304, ""},
		{"404", say("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone"), StateCode, 404, ""},
		{"204", say("HTTP/1.1 204 No Content\r\n\r\n"), StateCode, 204, ""},
		{"302 to nowhere", say("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n"), StateCode, 302, ""},
		{"500 with an endless body", endless("HTTP/1.1 500 Oops\r\nTransfer-Encoding: chunked\r\n\r\n", "4\r\nwait\r\n"), StateCode, 500, ""},
		{"503 with a silent body", func(c net.Conn) { say("HTTP/1.1 503 Busy\r\nContent-Length: 9\r\n\r\n")(c); hang(c) }, StateCode, 503, ""},
		{"101 and silence", func(c net.Conn) {
			say("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n")(c)
			hang(c)
		}, StateCode, 101, ""},
		{"302 to no URL", say("HTTP/1.1 302 Found\r\nLocation: http://[bad/\r\nContent-Length: 0\r\n\r\n"), StateRedirect, 302, ""},

		{"not HTTP", say("SSH-2.0-OpenSSH_9.9\r\n"), StateHeaderError, 0, ""},
		{"nothing", say(""), StateHeaderError, 0, ""},
		{"half a header", say("HTTP/1.1 200 OK\r\nContent-Ty"), StateHeaderError, 0, ""},
		{"reset before the header", reset(""), StateHeaderError, 0, ""},
		{"header without end", endless("HTTP/1.1 200 OK\r\n", "X-Flood: 0123456789\r\n"), StateHeaderError, 0, ""},
		{"hints without end", endless("", "HTTP/1.1 103 Early Hints\r\n\r\n"), StateHeaderError, 0, ""},
		{"two lengths", say("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"), StateHeaderError, 0, ""},
		{"silence", hang, StateHeaderTimeout, 0, ""},
		{"dripping header", drip("HTTP/1.1 200 OK\r\n", "X: y\r\n"), StateHeaderTimeout, 0, ""},

		{"cut short", say("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 99\r\n\r\n<p>x"), StateBodyError, 200, ""},
		{"reset in the body", reset("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 99\r\n\r\n<p>x"), StateBodyError, 200, ""},
		{"bad chunks", say(chunkedHTML + "5\r\n<p>hi\r\nzz\r\n you"), StateBodyError, 200, ""},
		{"chunks without end", say(chunkedHTML + "5\r\n<p>hi\r\n"), StateBodyError, 200, ""},
		{"gzip cut", say(answer200("Content-Encoding: gzip\r\n", half)), StateBodyError, 200, ""},
		{"gzip flipped", say(answer200("Content-Encoding: gzip\r\n", string(flipped))), StateBodyError, 200, ""},
		{"gzip that isn't", say(answer200("Content-Encoding: gzip\r\n", string(samplePage))), StateBodyError, 200, ""},
		{"brotli unasked", say(answer200("Content-Encoding: br\r\n", "\x0b\x02\x80hello\x03")), StateBodyError, 200, ""},
		{"gzip twice", say(answer200("Content-Encoding: gzip, gzip\r\n", gzipped([]byte(gzipped(samplePage))))), StateBodyError, 200, ""},
		{"stalled body", func(c net.Conn) { say(chunkedHTML + "5\r\n<p>hi\r\n")(c); hang(c) }, StateBodyTimeout, 200, ""},
		{"stalled before the type is known", func(c net.Conn) { say("HTTP/1.1 200 OK\r\n\r\n<ht")(c); hang(c) }, StateBodyTimeout, 200, ""},
		{"dripping body", drip(chunkedHTML, "1\r\nx\r\n"), StateBodyTimeout, 200, ""},
		{"fast enough, but endless", drip(chunkedHTML, "64\r\n"+strings.Repeat("x", 100)+"\r\n"), StateBodyTimeout, 200, ""},

		{"too long, announced", say("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 99999999999\r\n\r\n"), StateTooLarge, 200, ""},
		{"too long, not announced", endless(chunkedHTML, "10\r\n0123456789abcdef\r\n"), StateTooLarge, 200, ""},
		{"too long when unpacked", say(answer200("Content-Encoding: gzip\r\n", gzipped(bytes.Repeat(samplePage, 60)))), StateTooLarge, 200, ""},

		{"image", say("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 3\r\n\r\nabc"), StateWrongType, 200, ""},
		{"sniffed image", say(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(png), png)), StateWrongType, 200, ""},
		{"image that says html", say(answer200("", png)), StateWrongType, 200, ""},
		{"noise that says html", say(answer200("", strings.Repeat("ab\x00\x01", 200))), StateWrongType, 200, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newTest(t, limitsFor(c.want))
			resp := f.Fetch(t.Context(), Request{URL: "http://" + rawServer(t, false, c.answer) + "/p"})
			checkState(t, resp, c.want)
			if resp.Code != c.code || string(resp.Body) != c.body {
				t.Errorf("code %d, body %.60q; want %d, %.60q", resp.Code, resp.Body, c.code, c.body)
			}
		})
	}
}

// checkState checks the state, and that each failure has a reason.
func checkState(t *testing.T, resp *Response, want State) {
	t.Helper()
	if resp.State != want {
		t.Errorf("state %s (%v), want %s", resp.State, resp.Err, want)
	}
	quiet := resp.State == StateOK || resp.State == StateRedirect || resp.State == StateNotModified
	if quiet != (resp.Err == nil) {
		t.Errorf("state %s with error %v", resp.State, resp.Err)
	}
}

func TestStatesOfConnecting(t *testing.T) {
	closed := testkit.Call(net.Listen("tcp", "127.0.0.1:0")).Must(t)
	closed.Close()
	tlsServer := httptest.NewUnstartedServer(http.NotFoundHandler())
	tlsServer.Config.ErrorLog = log.New(io.Discard, "", 0) // it rightly logs our behaviour
	tlsServer.StartTLS()
	defer tlsServer.Close()
	blocked := resolverFunc(func(ctx context.Context, host string) ([]netip.Addr, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	none := resolverFunc(func(context.Context, string) ([]netip.Addr, error) {
		return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
	})
	for _, c := range []struct {
		name string
		url  string
		dns  resolver
		want State
	}{
		{"refused", "http://" + closed.Addr().String(), nil, StateConnectError},
		{"unknown name", "http://no.example/", none, StateNoIP},
		{"not quite an address", "http://1.2.3.256/", none, StateNone},
		{"no answer to the name", "http://slow.example/", blocked, StateConnectTimeout},
		{"no answer to TLS", "https://" + rawServer(t, true, hang), nil, StateConnectTimeout},
		{"unknown authority", tlsServer.URL, nil, StateTLSError},
		{"plain HTTP on the TLS port", "https://" + rawServer(t, true, say("HTTP/1.1 400 Bad\r\n\r\n")), nil, StateTLSError},
		{"reset in TLS", "https://" + rawServer(t, true, func(c net.Conn) {
			io.ReadFull(c, make([]byte, 1)) // an earlier reset could count as one of the connection
			reset("\x16")(c)
		}), nil, StateTLSError},
		{"closed in TLS", "https://" + rawServer(t, true, func(net.Conn) {}), nil, StateTLSError},
		{"port 0", "http://127.0.0.1:0/", nil, StateConnectError},
		{"a port that isn't", "http://127.0.0.1:99999/", nil, StateNone},
		{"another scheme", "ftp://127.0.0.1/", nil, StateNone},
		{"no host", "http:///x", nil, StateNone},
		{"no URL", "http://a b/", nil, StateNone},
		{"a host that browsers refuse", "http://a<b/", nil, StateNone},
	} {
		t.Run(c.name, func(t *testing.T) {
			opt := limitsFor(c.want)
			opt.Resolver = c.dns
			checkState(t, newTest(t, opt).Fetch(t.Context(), Request{URL: c.url}), c.want)
		})
	}
}

type resolverFunc func(ctx context.Context, host string) ([]netip.Addr, error)

func (f resolverFunc) LookupNetIP(ctx context.Context, _, host string) ([]netip.Addr, error) {
	return f(ctx, host)
}

// TestBombByRatio: a bomb within MaxBodyBytes is refused by its ratio.
func TestBombByRatio(t *testing.T) {
	bomb := gzipped(make([]byte, 4<<20))
	f := newTest(t, Options{MaxRatio: 100})
	resp := f.Fetch(t.Context(), Request{URL: "http://" + rawServer(t, false, say("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\n\r\n"+bomb))})
	if resp.State != StateWrongType { // zeros are not text anyway
		t.Errorf("zeros: %s", resp.State)
	}
	bomb = gzipped(bytes.Repeat([]byte("<p>"), 2<<20))
	resp = f.Fetch(t.Context(), Request{URL: "http://" + rawServer(t, false, say(answer200("Content-Encoding: gzip\r\n", bomb)))})
	checkState(t, resp, StateTooLarge)
	if resp.WireBytes > int64(len(bomb)) || !strings.Contains(resp.Err.Error(), "bomb") {
		t.Errorf("%d bytes read; %v", resp.WireBytes, resp.Err)
	}
}

func TestRedirectAndConditional(t *testing.T) {
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/page":
			if r.Header.Get("If-None-Match") == `"v1"` || r.Header.Get("If-Modified-Since") != "" {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			w.Header().Set("Content-Type", "text/plain")
			io.WriteString(w, "text")
		case "/busy":
			w.Header().Set("Retry-After", "120")
			w.WriteHeader(http.StatusTooManyRequests)
		default:
			w.Header()["Location"] = []string{" ../x y?q#f "}
			w.WriteHeader(http.StatusMovedPermanently)
		}
	})
	f := newTest(t, Options{})
	resp := f.Fetch(t.Context(), Request{URL: srv.URL + "/a/b/c"})
	checkState(t, resp, StateRedirect)
	if want := srv.URL + "/a/x%20y?q#f"; resp.Location != want || resp.Code != 301 {
		t.Errorf("location %q, want %q", resp.Location, want)
	}
	checkState(t, f.Fetch(t.Context(), Request{URL: srv.URL + "/page"}), StateOK)
	checkState(t, f.Fetch(t.Context(), Request{URL: srv.URL + "/page", ETag: `"v1"`}), StateNotModified)
	checkState(t, f.Fetch(t.Context(), Request{URL: srv.URL + "/page", LastModified: "Tue, 01 Jan 2030 00:00:00 GMT"}), StateNotModified)
	checkState(t, f.Fetch(t.Context(), Request{URL: srv.URL + "/page", ETag: "\"v\x001\""}), StateOK)
	resp = f.Fetch(t.Context(), Request{URL: srv.URL + "/busy"})
	checkState(t, resp, StateCode)
	if resp.RetryAfter != 2*time.Minute {
		t.Errorf("retry after %v, want 2m", resp.RetryAfter)
	}
}

// FuzzAnswer lets a server send anything.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{
		answer200("", string(samplePage)), answer200("Content-Encoding: gzip\r\n", gzipped(samplePage)),
		chunkedHTML + "5\r\n<p>hi\r\n0\r\n\r\n", "HTTP/1.1 301 Moved\r\nLocation: //x/\r\n\r\n",
		"HTTP/1.1 200 OK\r\n\r\n\x1f\x8b", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
		"HTTP/1.1 429 Slow\r\nRetry-After: 9\r\n\r\n", "HTTP/0.9\r\n", "",
	} {
		f.Add([]byte(s))
	}
	answers := make(chan []byte, 1)
	addr := rawServer(f, false, func(c net.Conn) { c.Write(<-answers) })
	fetcher := newTest(f, impatient)
	f.Fuzz(func(t *testing.T, answer []byte) {
		answers <- answer
		// The connection is never kept, so that answers stay separate.
		resp := fetcher.Fetch(t.Context(), Request{URL: "http://" + addr + "/"})
		fetcher.transport.CloseIdleConnections()
		switch resp.State {
		case StateOK, StateRedirect:
			checkState(t, resp, resp.State)
		case StateCode, StateHeaderError, StateHeaderTimeout, StateBodyError, StateBodyTimeout, StateTooLarge, StateWrongType:
			if resp.Err == nil || resp.Body != nil {
				t.Errorf("%q: %s, %v, body %q", answer, resp.State, resp.Err, resp.Body)
			}
		default:
			t.Errorf("%q: state %s (%v)", answer, resp.State, resp.Err)
		}
		select { // a retry within net/http received no answer, or took it twice
		case <-answers:
		default:
		}
	})
}
