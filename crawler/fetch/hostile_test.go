package fetch

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fossick/internal/testkit"

	"golang.org/x/net/http2"
)

// TestBlockedPorts: ports of other protocols are never reached, except by --hosts.
func TestBlockedPorts(t *testing.T) {
	f := newTest(t, Options{Resolver: resolverFunc(nil)}) // a look-up would panic
	for _, u := range []string{"http://a.example:22/", "https://a.example:25/x", "http://127.0.0.1:6379/", "http://a.example:6667/", "http://[::1]:11211/"} {
		checkState(t, f.Fetch(t.Context(), Request{URL: u}), StateGuardDenied)
	}
	if _, err := f.Resolve(t.Context(), "a.example:25"); StateOf(err) != StateGuardDenied {
		t.Errorf("an address on port 25: %v, want guard_denied", err)
	}
	at := netip.MustParseAddrPort(rawServer(t, false, say(answer200("", "<p>x"))))
	f = newTest(t, Options{Hosts: map[string]netip.AddrPort{"a.example": at}})
	checkState(t, f.Fetch(t.Context(), Request{URL: "http://a.example:8080/"}), StateOK)
}

// TestEmptyMembers: a compressed body that unpacks to nothing is bounded too.
func TestEmptyMembers(t *testing.T) {
	var empty bytes.Buffer
	z := gzip.NewWriter(&empty)
	testkit.Must(t, z.Close())
	members := strings.Repeat(empty.String(), 100)
	f := newTest(t, Options{MaxBodyBytes: 256 << 10})
	start := time.Now()
	resp := f.Fetch(t.Context(), Request{URL: "http://" + rawServer(t, false, endless("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n", members))})
	checkState(t, resp, StateTooLarge)
	if resp.WireBytes > 512<<10 {
		t.Errorf("%d bytes read in %v", resp.WireBytes, time.Since(start))
	}
}

// TestUnsolicitedAnswer: an early second answer is not taken for the next request's. (If it comes
// after that request, it cannot be told from its answer.)
func TestUnsolicitedAnswer(t *testing.T) {
	good, poison := answer200("", "<p>good"), answer200("", "<p>poisoned")
	sent := make(chan struct{}, 1)
	for name, answer := range map[string]func(net.Conn){
		"at once": func(c net.Conn) { io.WriteString(c, good+poison) },
		"later":   func(c net.Conn) { io.WriteString(c, good); io.WriteString(c, poison) },
	} {
		at := rawServer(t, false, func(c net.Conn) {
			answer(c)
			sent <- struct{}{}
			hang(c)
		})
		f := newTest(t, Options{})
		for i := range 300 {
			resp := f.Fetch(t.Context(), Request{URL: "http://" + at + "/p"})
			if string(resp.Body) != "<p>good" {
				t.Fatalf("%s, request %d: %s %q %v", name, i, resp.State, resp.Body, resp.Err)
			}
			<-sent
		}
	}
}

// TestOddNames: invalid names are not looked up, and odd ones do no harm.
func TestOddNames(t *testing.T) {
	var asked []string
	names := map[string]bool{"a_b.example": true, "upper.example": true, "dot.example": true}
	resolver := resolverFunc(func(_ context.Context, host string) ([]netip.Addr, error) {
		asked = append(asked, host)
		if !names[host] {
			return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
		}
		all := make([]netip.Addr, 10_000)
		for i := range all {
			all[i] = netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		}
		return all, nil
	})
	f := newTest(t, Options{Resolver: resolver, AllowNet: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}})
	for _, c := range []struct {
		host string
		want State
	}{
		{"a_b.example", StateGuardDenied}, {"UPPER.example", StateGuardDenied}, {"dot.example.", StateGuardDenied}, // ten thousand private addresses
		{"none.example", StateNoIP}, {"-dash-.example", StateNoIP}, {"two..example", StateNoIP},
		{strings.Repeat("l", 64) + ".example", StateNoIP}, {strings.Repeat("label.", 50) + "example", StateNoIP},
	} {
		if resp := f.Fetch(t.Context(), Request{URL: "http://" + c.host + "/"}); resp.State != c.want && resp.State != StateNone {
			t.Errorf("%.80s: %s (%v), want %s", c.host, resp.State, resp.Err, c.want)
		}
	}
	for _, name := range asked {
		if len(name) > 253 || strings.Contains(name, "..") || strings.Contains(name, strings.Repeat("l", 64)) {
			t.Errorf("the resolver was asked for %.80q, which no name server can know", name)
		}
	}
}

// socketBytes exceeds the unread bytes that both ends' sockets hold.
const socketBytes = 16 << 20

// flood is a way to send without end, with the permitted final states.
type flood struct {
	name string
	want []State
}

// checkFlood checks how a flood ended; sent is what the server wrote.
func checkFlood(floods *testkit.Tally, name string, r *Response, want []State, sent int64) {
	most := int64(bodyFold*(4<<20) + bodySlack + streamWindow + 512<<10 + socketBytes)
	ended := slices.Contains(want, r.State) && (r.State == StateWrongType || r.Err != nil)
	floods.Try(ended && sent <= most, "%s: state %s, %v, after %d bytes; want %v after %d at most", name, r.State, r.Err, sent, want, most)
}

// patient has no time limits that would end a flood before a byte limit does.
func patient(opt Options) Options {
	opt.Timeout, opt.HeaderTimeout, opt.ConnectTimeout, opt.MinRate = time.Minute, 20*time.Second, 20*time.Second, -1
	return opt
}

// TestFloods: endless data in any phase of an HTTP/1.1 exchange ends at a byte limit.
func TestFloods(t *testing.T) {
	floods := testkit.Tries(t, "floods of bytes, HTTP/1.1")
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
			<-over // so that the count is complete
			checkFlood(floods, c.name, r, c.want, sent.Load())
		})
	}
}

// countingConn counts written bytes.
type countingConn struct {
	net.Conn
	sent *atomic.Int64
}

func (c countingConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.sent.Add(int64(n))
	return n, err
}

// TestFloodsBeforeTheRequest: a proxy's endless answer to CONNECT.
func TestFloodsBeforeTheRequest(t *testing.T) {
	floods := testkit.Tries(t, "floods of bytes, proxies")
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

// TestFloodsHTTP2 is TestFloods for HTTP/2, where frames of many kinds may come at any time.
func TestFloodsHTTP2(t *testing.T) {
	floods := testkit.Tries(t, "floods of bytes, HTTP/2")
	log.SetOutput(io.Discard) // net/http logs each unknown frame
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
				go hang(p.conn) // so that the client's acknowledgements do not block it
				return until(func() error { return c.more(p, s) })
			})
			r := newTest(t, patient(opt)).Fetch(t.Context(), Request{URL: "https://example.com/"})
			<-over
			if r.State == StateOK {
				r.Err = io.EOF // as expected
			}
			checkFlood(floods, c.name, r, c.want, sent.Load())
			if n := requests.Load(); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// lateSight delays an answer's header until over.
type lateSight struct {
	http.RoundTripper
	over <-chan struct{}
}

func (l lateSight) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := l.RoundTripper.RoundTrip(req)
	<-l.over
	return res, err
}

// TestFloodBehindAnUnseenHeader: an exchange's end does not depend on when its header is judged.
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

// oddBody is the page sent with odd headers.
const oddBody = "<p>an honest page, long enough to be cut in two"

// answerWith is an answer with these header lines.
func answerWith(lines, body string) string {
	return "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + lines + "\r\n" + body
}

// TestOddAnswers: answers outside all standards affect only their own exchange.
func TestOddAnswers(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	testkit.Call(io.WriteString(z, oddBody)).Must(t)
	testkit.Must(t, z.Close())
	length := fmt.Sprintf("Content-Length: %d\r\n", len(oddBody))
	packedLength := fmt.Sprintf("Content-Length: %d\r\n", packed.Len())
	badSum := packed.String()[:packed.Len()-8] + strings.Repeat("\x00", 8)
	for name, c := range map[string]struct {
		answer string
		want   State
	}{
		"one length twice":          {answerWith(length+length, oddBody), StateOK},
		"a list of lengths":         {answerWith("Content-Length: 5, 5\r\n", oddBody), StateOK},
		"a length with a plus":      {answerWith("Content-Length: +48\r\n", oddBody), StateOK},
		"a length in hex":           {answerWith("Content-Length: 0x30\r\n", oddBody), StateOK},
		"a length of nothing":       {answerWith("Content-Length: \r\n", oddBody), StateOK},
		"chunked in capitals":       {answerWith("Transfer-Encoding: CHUNKED\r\n", "5\r\n<p>hi\r\n0\r\n\r\n"), StateOK},
		"an identity transfer":      {answerWith("Transfer-Encoding: identity\r\n"+length, oddBody), StateOK},
		"gzip in capitals":          {answerWith("Content-Encoding: GZIP\r\n"+packedLength, packed.String()), StateOK},
		"x-gzip":                    {answerWith("Content-Encoding: x-gzip\r\n"+packedLength, packed.String()), StateOK},
		"gzip with a quality":       {answerWith("Content-Encoding: gzip;q=1\r\n"+packedLength, packed.String()), StateOK},
		"a chain of codings":        {answerWith("Content-Encoding: identity, gzip\r\n"+packedLength, packed.String()), StateOK},
		"zstd unasked":              {answerWith("Content-Encoding: zstd\r\n"+length, oddBody), StateBodyError},
		"a coding of nothing":       {answerWith("Content-Encoding: \r\n"+length, oddBody), StateOK},
		"gzip with a wrong sum":     {answerWith("Content-Encoding: gzip\r\nContent-Length: "+fmt.Sprint(len(badSum))+"\r\n", badSum), StateBodyError},
		"a blank before the colon":  {"HTTP/1.1 200 OK\r\nContent-Type : text/html\r\n" + length + "\r\n" + oddBody, StateOK},
		"lines before the answer":   {"\r\n\r\n" + answerWith(length, oddBody), StateHeaderError},
		"two status lines":          {"HTTP/1.1 200 OK\r\n" + answerWith(length, oddBody), StateOK},
		"a hint with a body":        {"HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\n\r\nhello" + answerWith(length, oddBody), StateHeaderError},
		"status zero":               {"HTTP/1.1 000 Zero\r\nContent-Length: 0\r\n\r\n", StateCode},
		"escapes as its reason":     {"HTTP/1.1 500 \x1b]0;t\x07\x1b[2J\r\nContent-Length: 0\r\n\r\n", StateCode},
		"escapes as its location":   {"HTTP/1.1 302 Found\r\nLocation: /\x1b[31m\r\nContent-Length: 0\r\n\r\n", StateHeaderError},
		"a choice with a location":  {"HTTP/1.1 300 Many\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n", StateCode},
		"a proxy to be used":        {"HTTP/1.1 305 Use Proxy\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n", StateCode},
		"no content to be seen":     {"HTTP/1.1 205 Reset Content\r\nContent-Type: text/html\r\n" + length + "\r\n" + oddBody, StateCode},
		"pages that replace others": {"HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=x\r\n\r\n--x\r\n", StateWrongType},
		"an upgrade offered":        {answerWith("Upgrade: h2c\r\nConnection: Upgrade\r\n"+length, oddBody), StateOK},
		"a quote left open":         {"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=\"utf-8\r\n" + length + "\r\n" + oddBody, StateOK},
		"a version in year 1":       {answerWith("Last-Modified: Mon, 01 Jan 0001 00:00:00 GMT\r\n"+length, oddBody), StateOK},
		"a version in year 99999":   {answerWith("Last-Modified: Fri, 31 Dec 99999 23:59:59 GMT\r\n"+length, oddBody), StateOK},
		"kept open for ever":        {answerWith("Keep-Alive: timeout=999999999999\r\n"+length, oddBody), StateOK},
		"links without end":         {answerWith(strings.Repeat("Link: </x>; rel=next\r\n", 4000)+length, oddBody), StateOK},
	} {
		t.Run(name, func(t *testing.T) {
			f := newTest(t, Options{})
			checkState(t, f.Fetch(t.Context(), Request{URL: "http://" + rawServer(t, false, say(c.answer)) + "/"}), c.want)
		})
	}
}

// TestHalfClosed: a server that ends its connection after a whole answer has answered.
func TestHalfClosed(t *testing.T) {
	whole := answerWith(fmt.Sprintf("Content-Length: %d\r\n", len(oddBody)), oddBody)
	for name, answer := range map[string]func(net.Conn){
		"half": func(c net.Conn) {
			io.WriteString(c, answerWith("", oddBody))
			c.(*net.TCPConn).CloseWrite()
			hang(c)
		},
		"closed": func(c net.Conn) { io.WriteString(c, whole) },
	} {
		f := newTest(t, Options{})
		if r := f.Fetch(t.Context(), Request{URL: "http://" + rawServer(t, false, answer) + "/"}); r.State != StateOK || string(r.Body) != oddBody {
			t.Errorf("%s: %s %q %v", name, r.State, r.Body, r.Err)
		}
	}
}

// TestOddCodings: unknown words are ignored, and codings that were not requested are refused.
func TestOddCodings(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want State
	}{
		"gzip,": {gzipped([]byte(oddBody)), StateOK}, ", gzip": {gzipped([]byte(oddBody)), StateOK}, ",,gzip , ,": {gzipped([]byte(oddBody)), StateOK},
		"gzip, identity": {gzipped([]byte(oddBody)), StateOK}, "utf-8, gzip": {gzipped([]byte(oddBody)), StateOK}, `"gzip"`: {gzipped([]byte(oddBody)), StateOK},
		"deflate,": {compressed([]byte(oddBody), func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }), StateOK}, ",": {oddBody, StateOK}, "windows-1251": {oddBody, StateOK}, "Shift_JIS": {oddBody, StateOK},
		"text/html": {oddBody, StateOK}, "quoted": {oddBody, StateOK}, "charset=utf-8": {oddBody, StateOK}, "windows-1252, iso-8859-15": {oddBody, StateOK},
		"br,": {oddBody, StateBodyError}, "gzip, br": {oddBody, StateBodyError}, "gzip, gzip": {oddBody, StateBodyError}, ", zstd": {oddBody, StateBodyError},
	} {
		r := answerOf(t, answer200("Content-Encoding: "+name+"\r\n", c.body))
		if r.State != c.want || r.State == StateOK && string(r.Body) != oddBody {
			t.Errorf("%q: %s %.60q %v", name, r.State, r.Body, r.Err)
		}
	}
}

// TestGzipWithoutTrailer: complete data with a cut trailer is accepted and marked. One byte less
// is a broken body.
func TestGzipWithoutTrailer(t *testing.T) {
	for _, body := range []string{oddBody, string(samplePage), strings.Repeat("\x01", 40) + string(samplePage)[:9]} {
		whole := gzipped([]byte(body))
		for missing := range 12 {
			r := answerOf(t, "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-16\r\nContent-Encoding: gzip\r\n\r\n"+whole[:len(whole)-missing])
			switch {
			case missing > 8 && r.State != StateBodyError:
				t.Errorf("%d bytes missing: %s %.60q", missing, r.State, r.Body)
			case missing <= 8 && (r.State != StateOK || string(r.Body) != body || (r.Note != "") != (missing > 0) || r.ErrorText() != r.Note):
				t.Errorf("%d bytes missing: %s %.60q note %q %v", missing, r.State, r.Body, r.Note, r.Err)
			}
		}
	}
}

// TestOddHeaders: header lines that browsers ignore do no harm; lines that make the body's end
// ambiguous are refused. Neither kind leaves a reusable connection.
func TestOddHeaders(t *testing.T) {
	length := fmt.Sprintf("Content-Length: %d\r\n", len(oddBody))
	for lines, want := range map[string]State{
		"no colon\r\n" + length: StateOK, "no colon\r\n folded\r\n" + length: StateOK, "N@me: x\r\n" + length: StateOK, "Na\xc3\xafve: x\r\n" + length: StateOK,
		"X-Bell: a\x07b\r\n" + length: StateOK, "<html>\n" + length: StateOK, length + "no colon\n": StateOK, "HTTP/1.1 500 No\r\n" + length: StateOK,
		"Transfer-Encoding: identity\r\n" + length: StateOK, "Transfer-Encoding: Identity\r\n": StateOK, "Transfer-Encoding:\r\n" + length: StateOK,
		"Content-Length: abc\r\n": StateOK, "Content-Length: -1\r\n": StateHeaderError, "Content-Length: 47 bytes\r\n": StateOK, "Content-Length: 47.0\r\n": StateOK, "Content-Length: 99999999999999999999\r\n": StateOK,
		strings.Replace(length, "\r", ",\r", 1): StateOK, "Content-Length: +47\r\nContent-Length: +47\r\n": StateOK,

		"Content-Length: 4\r\n" + length: StateHeaderError, "Content-Length: 4, 5\r\n": StateHeaderError, "Content-Length: x\r\n" + length: StateHeaderError,
		"Content-Length: 4\r\n 7\r\n": StateHeaderError, "Content-Length: 4\x00\r\n": StateHeaderError, "Content-Length 4\r\n" + length: StateHeaderError,
		"Transfer-Encoding: xchunked\r\n" + length: StateHeaderError, "Transfer-Encoding: chunked, identity\r\n" + length: StateHeaderError, "Transfer-Encoding: \x0bchunked\r\n" + length: StateHeaderError,
		"Transfer-Encoding\t: chunked\r\n" + length: StateHeaderError, "Transfer-Encoding chunked\r\n" + length: StateHeaderError, "X: a\rTransfer-Encoding: chunked\r\n" + length: StateHeaderError,
		"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n": StateHeaderError,
	} {
		for _, req := range []Request{{}, {Accept: []string{"*/*"}, Truncate: true, AnySuccess: true}} {
			req.URL = "http://" + rawServer(t, false, say(answerWith(lines, oddBody))) + "/robots.txt"
			r := newTest(t, Options{}).Fetch(t.Context(), req)
			if r.State != want || want == StateOK && string(r.Body) != oddBody {
				t.Errorf("%q: %s %.60q %v, want %s", lines, r.State, r.Body, r.Err, want)
			}
		}
	}
}

// TestMendedConnectionIsClosed: a connection with an odd header is not reused.
func TestMendedConnectionIsClosed(t *testing.T) {
	answer := answerWith("no colon\r\n"+fmt.Sprintf("Content-Length: %d\r\n", len(oddBody)), oddBody)
	again := make(chan int, 1)
	at := rawServer(t, false, func(c net.Conn) {
		io.WriteString(c, answer)
		n, _ := c.Read(make([]byte, 1))
		again <- n
	})
	f := newTest(t, Options{})
	checkState(t, f.Fetch(t.Context(), Request{URL: "http://" + at + "/"}), StateOK)
	go f.Fetch(t.Context(), Request{URL: "http://" + at + "/"})
	if n := <-again; n > 0 {
		t.Error("a second request came on the connection")
	}
}

// TestServerWantsCertificate: no exchange is possible, whether the server says so in the
// handshake (TLS 1.2) or after it.
func TestServerWantsCertificate(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		srv := httptest.NewUnstartedServer(http.NotFoundHandler())
		srv.Config.ErrorLog = log.New(io.Discard, "", 0)
		srv.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MinVersion: version, MaxVersion: version}
		srv.StartTLS()
		t.Cleanup(srv.Close)
		opt := limitsFor(StateTLSError)
		opt.RootCAs = srv.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
		r := newTest(t, opt).Fetch(t.Context(), Request{URL: srv.URL})
		if r.State != StateTLSError {
			t.Errorf("%s: %s, %v; want tls_error", tls.VersionName(version), r.State, r.Err)
		}
	}
}
