package fetch

import (
	"bufio"
	"bytes"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"fossick/internal/tries"
)

// socketBytes is more than the sockets of both ends hold of what nobody has read.
const socketBytes = 16 << 20

// flood is one way to send without end, and the states in which that may end. The
// limits of time are long: what ends it is a limit of bytes.
type flood struct {
	name string
	want []State
}

// checkFlood judges how a flood ended, of which the server sent so many bytes.
func checkFlood(floods *tries.Class, name string, r *Response, want []State, sent int64) {
	most := int64(bodyFold*(4<<20) + bodySlack + streamWindow + 512<<10 + socketBytes)
	ended := slices.Contains(want, r.State) && (r.State == StateWrongType || r.Err != nil)
	floods.Try(ended && sent <= most, "%s: state %s, %v, after %d bytes; want %v after %d at most", name, r.State, r.Err, sent, want, most)
}

// patient has no limit of time that a flood could run into, but for what bounds a test.
func patient(opt Options) Options {
	opt.Timeout, opt.HeaderTimeout, opt.ConnectTimeout, opt.MinRate = time.Minute, 20*time.Second, 20*time.Second, -1
	return opt
}

// TestFloods: what a server sends without end, in each phase of an exchange over
// HTTP/1.1, ends at a limit of bytes.
func TestFloods(t *testing.T) {
	floods := tries.Of(t, "floods of bytes, HTTP/1.1")
	const ok = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
	line, chunk := "X-More: "+strings.Repeat("x", 4000)+"\r\n", strings.Repeat("x", 4000)
	for _, c := range []struct {
		flood
		first, more string
	}{
		{flood{"lines of a header", []State{StateHeaderError}}, ok, line},
		{flood{"short lines of a header", []State{StateHeaderError}}, ok, "a:b\r\n"},
		{flood{"a line of a header", []State{StateHeaderError}}, ok + "X: ", chunk},
		{flood{"a folded line of a header", []State{StateHeaderError}}, ok + "X: y", "\r\n y"},
		{flood{"a status", []State{StateHeaderError}}, "HTTP/1.1 200 ", chunk},
		{flood{"blank lines before the status", []State{StateHeaderError}}, "", "\r\n"},
		{flood{"hints", []State{StateHeaderError}}, "", "HTTP/1.1 103 Early Hints\r\n\r\n"},
		{flood{"hints with links", []State{StateHeaderError}}, "", "HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n"},
		{flood{"requests to go on", []State{StateHeaderError}}, "", "HTTP/1.1 100 Continue\r\n\r\n"},
		{flood{"no HTTP", []State{StateHeaderError}}, "", chunk},
		{flood{"a body", []State{StateTooLarge}}, ok + "\r\n", chunk},
		{flood{"a body in chunks", []State{StateTooLarge}}, ok + "Transfer-Encoding: chunked\r\n\r\n", "fa0\r\n" + chunk + "\r\n"},
		{flood{"chunks of a byte", []State{StateTooLarge, StateBodyError}}, ok + "Transfer-Encoding: chunked\r\n\r\n", strings.Repeat("1\r\nx\r\n", 600)},
		{flood{"what a chunk is", []State{StateBodyError}}, ok + "Transfer-Encoding: chunked\r\n\r\n1", ";x=" + chunk},
		{flood{"what each chunk is", []State{StateBodyError}}, ok + "Transfer-Encoding: chunked\r\n\r\n", "1;" + chunk + "\r\nx\r\n"},
		{flood{"a chunk's length", []State{StateBodyError}}, ok + "Transfer-Encoding: chunked\r\n\r\n", "0000"},
		{flood{"trailers", []State{StateBodyError}}, ok + "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n", line},
		{flood{"short trailers", []State{StateBodyError}}, ok + "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n", "a:b\r\n"},
		{flood{"an unwanted body", []State{StateWrongType}}, "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n", chunk},
		{flood{"unwanted chunks", []State{StateWrongType}}, "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nTransfer-Encoding: chunked\r\n\r\n", "1;" + chunk + "\r\nx\r\n"},
		{flood{"the body of an error", []State{StateCode}}, "HTTP/1.1 500 No\r\n\r\n", chunk},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sent, over := new(atomic.Int64), make(chan struct{})
			at := rawServer(t, false, func(conn net.Conn) {
				defer close(over)
				endless(c.first, c.more)(countingConn{conn, sent})
			})
			r := newTest(t, patient(Options{})).Fetch(t.Context(), Request{URL: "http://" + at + "/"})
			<-over // or the count is not whole
			checkFlood(floods, c.name, r, c.want, sent.Load())
		})
	}
}

// countingConn counts what is written.
type countingConn struct {
	net.Conn
	sent *atomic.Int64
}

func (c countingConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.sent.Add(int64(n))
	return n, err
}

// TestFloodsBeforeTheRequest: a proxy that does not end its answer to CONNECT.
func TestFloodsBeforeTheRequest(t *testing.T) {
	floods := tries.Of(t, "floods of bytes, proxies")
	for name, answer := range map[string][2]string{
		"lines": {"HTTP/1.1 200 OK\r\n", "X-More: " + strings.Repeat("x", 4000) + "\r\n"},
		"hints": {"", "HTTP/1.1 103 Early Hints\r\n\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sent, over := new(atomic.Int64), make(chan struct{})
			at := rawServer(t, false, func(conn net.Conn) {
				defer close(over)
				endless(answer[0], answer[1])(countingConn{conn, sent})
			})
			f := newTest(t, patient(Options{Proxy: &url.URL{Scheme: "http", Host: at}}))
			r := f.Fetch(t.Context(), Request{URL: "https://example.com/"})
			<-over
			checkFlood(floods, name, r, []State{StateConnectError}, sent.Load())
		})
	}
}

// TestFloodsHTTP2: the same over HTTP/2, where frames of many kinds may come at any time.
func TestFloodsHTTP2(t *testing.T) {
	floods := tries.Of(t, "floods of bytes, HTTP/2")
	log.SetOutput(io.Discard) // net/http has a line for each unknown frame
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	junk := bytes.Repeat([]byte("<p>text "), 2<<10)
	none := func(*h2Peer, uint32) {}
	head := func(fields ...string) func(p *h2Peer, s uint32) {
		return func(p *h2Peer, s uint32) {
			p.WriteHeaders(http2.HeadersFrameParam{StreamID: s, BlockFragment: headerBlock(fields...), EndHeaders: true})
		}
	}
	html := head(":status", "200", "content-type", "text/html")
	before, behind := []State{StateHeaderError}, []State{StateTooLarge, StateBodyError}
	unknown := func(p *h2Peer, s uint32) error { return p.WriteRawFrame(0x42, 0, 0, junk) }
	for _, c := range []struct {
		flood
		first func(p *h2Peer, s uint32)
		more  func(p *h2Peer, s uint32) error
	}{
		{flood{"unknown frames before the header", before}, none, unknown},
		{flood{"unknown frames of the stream before the header", before}, none, func(p *h2Peer, s uint32) error { return p.WriteRawFrame(0x42, 0xff, s, junk) }},
		{flood{"unknown frames after a hint", before}, head(":status", "103"), unknown},
		{flood{"empty unknown frames before the header", before}, none, func(p *h2Peer, s uint32) error { return p.WriteRawFrame(0x42, 0, 0, nil) }},
		{flood{"pings before the header", before}, none, func(p *h2Peer, s uint32) error { return p.WritePing(true, [8]byte{}) }},
		{flood{"priorities before the header", before}, none, func(p *h2Peer, s uint32) error { return p.WritePriority(s, http2.PriorityParam{StreamDep: 3}) }},
		{flood{"settings before the header", before}, none, func(p *h2Peer, s uint32) error {
			return p.WriteSettings(http2.Setting{ID: 0x99, Val: 1}, http2.Setting{ID: 0x98, Val: 1})
		}},
		{flood{"settings of many values", before}, none, func(p *h2Peer, s uint32) error { return p.WriteRawFrame(http2.FrameSettings, 0, 0, junk[:6*2000]) }},
		{flood{"updates of the window before the header", before}, none, func(p *h2Peer, s uint32) error { return p.WriteWindowUpdate(s, 1) }},
		{flood{"resets of other streams before the header", before}, none, func(p *h2Peer, s uint32) error { return p.WriteRSTStream(s+2, http2.ErrCodeNo) }},
		{flood{"empty continuations", before}, func(p *h2Peer, s uint32) {
			p.WriteHeaders(http2.HeadersFrameParam{StreamID: s, BlockFragment: headerBlock(":status", "200")})
		}, func(p *h2Peer, s uint32) error { return p.WriteContinuation(s, false, nil) }},
		{flood{"hints", before}, none, func(p *h2Peer, s uint32) error {
			return p.WriteHeaders(http2.HeadersFrameParam{StreamID: s, BlockFragment: headerBlock(":status", "103"), EndHeaders: true})
		}},
		{flood{"farewells before the header", before}, none, func(p *h2Peer, s uint32) error { return p.WriteGoAway(s, http2.ErrCodeNo, junk) }},
		{flood{"unknown frames before the body", behind}, html, unknown},
		{flood{"pings before the body", behind}, html, func(p *h2Peer, s uint32) error { return p.WritePing(true, [8]byte{}) }},
		{flood{"empty data", behind}, html, func(p *h2Peer, s uint32) error { return p.WriteData(s, false, nil) }},
		{flood{"unknown frames among data", behind}, html, func(p *h2Peer, s uint32) error {
			if err := p.WriteData(s, false, []byte("<p>")); err != nil {
				return err
			}
			return unknown(p, s)
		}},
		{flood{"padding among data", behind}, html, func(p *h2Peer, s uint32) error { return p.WriteDataPadded(s, false, []byte("x"), make([]byte, 255)) }},
		{flood{"data", behind}, html, func(p *h2Peer, s uint32) error { return p.WriteData(s, false, junk) }},
		{flood{"trailers that never end", behind}, func(p *h2Peer, s uint32) {
			html(p, s)
			p.WriteHeaders(http2.HeadersFrameParam{StreamID: s, BlockFragment: headerBlock("x", "y"), EndStream: true})
		}, func(p *h2Peer, s uint32) error { return p.WriteContinuation(s, false, nil) }},
		{flood{"unknown frames behind an unwanted header", []State{StateWrongType}}, head(":status", "200", "content-type", "image/png"), unknown},
		{flood{"unknown frames behind a page", []State{StateOK}}, func(p *h2Peer, s uint32) { p.answer(s) }, unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sent, over := new(atomic.Int64), make(chan struct{})
			opt, _, requests := h2Server(t, func(p *h2Peer, s uint32) bool {
				defer close(over)
				p.Framer = http2.NewFramer(bufio.NewWriterSize(countingConn{p.conn, sent}, 16<<10), p.conn)
				p.AllowIllegalWrites = true
				c.first(p, s)
				go hang(p.conn) // so that the client's acknowledgements do not hold it up
				return until(func() error { return c.more(p, s) })
			})
			r := newTest(t, patient(opt)).Fetch(t.Context(), Request{URL: "https://example.com/"})
			<-over
			if r.State == StateOK {
				r.Err = io.EOF // as it should be
			}
			checkFlood(floods, c.name, r, c.want, sent.Load())
			if n := requests.Load(); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// lateSight returns the header of an answer only after over.
type lateSight struct {
	http.RoundTripper
	over <-chan struct{}
}

func (l lateSight) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := l.RoundTripper.RoundTrip(req)
	<-l.over
	return res, err
}

// TestFloodBehindAnUnseenHeader: how an exchange ends does not depend on whether the
// header of its answer was judged before or after too much came behind it.
func TestFloodBehindAnUnseenHeader(t *testing.T) {
	for contentType, want := range map[string]State{"text/html": StateBodyError, "image/png": StateWrongType} {
		t.Run(contentType, func(t *testing.T) {
			t.Parallel()
			over := make(chan struct{})
			opt, _, _ := h2Server(t, func(p *h2Peer, s uint32) bool {
				defer close(over)
				p.WriteHeaders(http2.HeadersFrameParam{StreamID: s, BlockFragment: headerBlock(":status", "200", "content-type", contentType), EndHeaders: true})
				return until(func() error { return p.WriteDataPadded(s, false, nil, make([]byte, 255)) })
			})
			f := newTest(t, patient(opt))
			f.clones.New = func() any { return newClone(newCollector(&gate{f, lateSight{f.transport, over}})) }
			checkState(t, f.Fetch(t.Context(), Request{URL: "https://example.com/"}), want)
		})
	}
}
