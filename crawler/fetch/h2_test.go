package fetch

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"fossick/internal/testkit"
)

// h2Peer is a hostile server's end of an HTTP/2 connection.
type h2Peer struct {
	*http2.Framer
	conn net.Conn
}

// header returns an encoded header block of status 200, HTML, and more.
func (p *h2Peer) header(more ...string) []byte {
	return headerBlock(append([]string{":status", "200", "content-type", "text/html"}, more...)...)
}

// headerBlock encodes names and values in turn.
func headerBlock(fields ...string) []byte {
	var b bytes.Buffer
	enc := hpack.NewEncoder(&b)
	for i := 0; i+1 < len(fields); i += 2 {
		enc.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return b.Bytes()
}

func (p *h2Peer) answer(stream uint32) {
	p.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: p.header(), EndHeaders: true})
	p.WriteData(stream, true, []byte("<p>fine"))
}

// h2Server accepts HTTP/2 connections on loopback and calls each for every request, until that
// returns false. It returns options to trust it, and counts.
func h2Server(t *testing.T, each func(p *h2Peer, stream uint32) bool) (opt Options, conns, requests *atomic.Int32) {
	t.Helper()
	certSrv, cas := tlsServer(t, true, nil)
	ln := testkit.Call(tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: certSrv.TLS.Certificates, NextProtos: []string{"h2"}})).Must(t)
	t.Cleanup(func() { ln.Close() })
	conns, requests = new(atomic.Int32), new(atomic.Int32)
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				conns.Add(1)
				serveH2(c, requests, each)
			}()
		}
	}()
	opt = limitsFor(StateOK)
	opt.RateGrace = time.Second
	opt.RootCAs = cas
	opt.Hosts = map[string]netip.AddrPort{"example.com": netip.MustParseAddrPort(ln.Addr().String())}
	return opt, conns, requests
}

func serveH2(c net.Conn, requests *atomic.Int32, each func(p *h2Peer, stream uint32) bool) {
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(c, preface); err != nil {
		return
	}
	p := &h2Peer{http2.NewFramer(c, c), c}
	p.WriteSettings()
	for {
		f, err := p.ReadFrame()
		if err != nil {
			return
		}
		switch f := f.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				p.WriteSettingsAck()
			}
		case *http2.HeadersFrame:
			requests.Add(1)
			if !each(p, f.StreamID) {
				return
			}
		}
	}
}

// until repeats what until the client hangs up.
func until(what func() error) bool {
	for what() == nil {
	}
	return false
}

// TestHostileHTTP2: each attack fails only its own exchange, within the limits of time and memory
// and with one request on one connection.
func TestHostileHTTP2(t *testing.T) {
	long, attacks := strings.Repeat("x", 8<<10), testkit.Tries(t, "attacks by HTTP/2")
	for _, c := range []struct {
		name   string
		attack func(p *h2Peer, stream uint32) bool
		want   []State
	}{
		{"endless continuation", func(p *h2Peer, s uint32) bool {
			p.WriteHeaders(http2.HeadersFrameParam{StreamID: s, BlockFragment: p.header()})
			return until(func() error { return p.WriteContinuation(s, false, p.header("x-more", long)) })
		}, []State{StateHeaderError}},
		{"endless empty continuation", func(p *h2Peer, s uint32) bool {
			p.WriteHeaders(http2.HeadersFrameParam{StreamID: s, BlockFragment: p.header()})
			return until(func() error { return p.WriteContinuation(s, false, nil) })
		}, []State{StateHeaderTimeout, StateHeaderError}},
		{"header list too long", func(p *h2Peer, s uint32) bool {
			var more []string
			for range 40 {
				more = append(more, "x-more", long)
			}
			block := p.header(more...)
			p.WriteHeaders(http2.HeadersFrameParam{StreamID: s, BlockFragment: block[:16<<10]})
			for block = block[16<<10:]; len(block) > 16<<10; block = block[16<<10:] {
				p.WriteContinuation(s, false, block[:16<<10])
			}
			p.WriteContinuation(s, true, block)
			return true
		}, []State{StateHeaderError}},
		{"bomb in the header's table", func(p *h2Peer, s uint32) bool {
			var b bytes.Buffer
			enc := hpack.NewEncoder(&b)
			enc.WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
			for range 4000 { // a byte each after the first
				enc.WriteField(hpack.HeaderField{Name: "x-more", Value: long[:3<<10]})
			}
			p.WriteHeaders(http2.HeadersFrameParam{StreamID: s, BlockFragment: b.Bytes(), EndHeaders: true})
			return true
		}, []State{StateHeaderError}},
		{"goes away at each request", func(p *h2Peer, s uint32) bool {
			p.WriteGoAway(0, http2.ErrCodeNo, nil)
			return false
		}, []State{StateHeaderError}},
		{"refuses each stream", func(p *h2Peer, s uint32) bool {
			return p.WriteRSTStream(s, http2.ErrCodeRefusedStream) == nil
		}, []State{StateHeaderError}},
		{"resets each stream", func(p *h2Peer, s uint32) bool {
			return p.WriteRSTStream(s, http2.ErrCodeInternal) == nil
		}, []State{StateHeaderError}},
		{"asks for another protocol", func(p *h2Peer, s uint32) bool {
			return p.WriteRSTStream(s, http2.ErrCodeHTTP11Required) == nil
		}, []State{StateHeaderError}},
		{"resets in the body", func(p *h2Peer, s uint32) bool {
			p.WriteHeaders(http2.HeadersFrameParam{StreamID: s, BlockFragment: p.header(), EndHeaders: true})
			p.WriteData(s, false, []byte("<p>x"))
			return p.WriteRSTStream(s, http2.ErrCodeInternal) == nil
		}, []State{StateBodyError}},
		{"pings for ever", func(p *h2Peer, s uint32) bool {
			return until(func() error { return p.WritePing(false, [8]byte{}) })
		}, []State{StateHeaderTimeout, StateHeaderError}},
		{"settings for ever", func(p *h2Peer, s uint32) bool {
			return until(func() error { return p.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1000}) })
		}, []State{StateHeaderTimeout, StateHeaderError}},
		{"informs for ever", func(p *h2Peer, s uint32) bool {
			hint := headerBlock(":status", "103")
			return until(func() error {
				return p.WriteHeaders(http2.HeadersFrameParam{StreamID: s, BlockFragment: hint, EndHeaders: true})
			})
		}, []State{StateHeaderTimeout, StateHeaderError}},
		{"empty data for ever", func(p *h2Peer, s uint32) bool {
			p.WriteHeaders(http2.HeadersFrameParam{StreamID: s, BlockFragment: p.header(), EndHeaders: true})
			return until(func() error { return p.WriteData(s, false, nil) })
		}, []State{StateBodyTimeout, StateBodyError, StateTooLarge}},
		{"padding for ever", func(p *h2Peer, s uint32) bool {
			p.WriteHeaders(http2.HeadersFrameParam{StreamID: s, BlockFragment: p.header(), EndHeaders: true})
			return until(func() error { return p.WriteDataPadded(s, false, nil, make([]byte, 255)) })
		}, []State{StateBodyTimeout, StateBodyError, StateTooLarge}},
		{"an unwanted type, and then data for ever", func(p *h2Peer, s uint32) bool {
			p.WriteHeaders(http2.HeadersFrameParam{StreamID: s, BlockFragment: headerBlock(":status", "200", "content-type", "image/png"), EndHeaders: true})
			return until(func() error { return p.WriteData(s, false, nil) })
		}, []State{StateWrongType}},
		{"pushes", func(p *h2Peer, s uint32) bool {
			p.WritePushPromise(http2.PushPromiseParam{StreamID: s, PromiseID: 2, BlockFragment: p.header(), EndHeaders: true})
			return true
		}, []State{StateHeaderError}},
		{"a length that is a lie", func(p *h2Peer, s uint32) bool {
			p.WriteHeaders(http2.HeadersFrameParam{StreamID: s, BlockFragment: p.header("content-length", "3"), EndHeaders: true})
			p.WriteData(s, true, []byte("<p>more than three"))
			return true
		}, []State{StateBodyError}},
		{"body too long", func(p *h2Peer, s uint32) bool {
			p.WriteHeaders(http2.HeadersFrameParam{StreamID: s, BlockFragment: p.header(), EndHeaders: true})
			return until(func() error { // ignores flow control
				return p.WriteData(s, false, bytes.Repeat([]byte("<p>text "), 2<<10))
			})
		}, []State{StateTooLarge, StateBodyError, StateBodyTimeout}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var tame atomic.Bool
			var underWay sync.WaitGroup
			opt, conns, requests := h2Server(t, func(p *h2Peer, s uint32) bool {
				if tame.Load() {
					p.answer(s)
					return true
				}
				underWay.Add(1)
				defer underWay.Done()
				return c.attack(p, s)
			})
			if strings.HasSuffix(string(c.want[0]), "_timeout") {
				opt.HeaderTimeout = time.Second
			}
			f := newTest(t, opt)
			r := f.Fetch(t.Context(), Request{URL: "https://example.com/"})
			n, m := requests.Load(), conns.Load()
			underWay.Wait() // none survives its exchange
			tame.Store(true)
			again := fetchAgain(t, f)
			attacks.Try(slices.Contains(c.want, r.State) && r.Err != nil && n == 1 && m == 1 && string(again.Body) == "<p>fine",
				"%s: state %s, %v, want %v; %d requests on %d connections; the next one %s, %v", c.name, r.State, r.Err, c.want, n, m, again.State, again.Err)
		})
	}
}

// fetchAgain retries, as net/http may not yet know that the server lost a connection.
func fetchAgain(t *testing.T, f *Fetcher) (r *Response) {
	for range 5 {
		if r = f.Fetch(t.Context(), Request{URL: "https://example.com/"}); r.State == StateOK {
			break
		}
		t.Logf("on the lost connection: %s, %v", r.State, r.Err)
	}
	return r
}

// TestUnaskedFrames: unrequested frames after an answer only cost the connection.
func TestUnaskedFrames(t *testing.T) {
	over := make(chan struct{})
	opt, conns, _ := h2Server(t, func(p *h2Peer, s uint32) bool {
		p.answer(s)
		go func() {
			for p.WritePing(false, [8]byte{}) == nil {
			}
			over <- struct{}{}
		}()
		return true
	})
	f := newTest(t, opt)
	for n := int32(1); n <= 3; n++ {
		if r := fetchAgain(t, f); string(r.Body) != "<p>fine" || conns.Load() != n {
			t.Fatalf("exchange %d: %s, %v on connection %d", n, r.State, r.Err, conns.Load())
		}
		<-over
	}
}

// TestHTTP2KeepsItsConnection: exchanges with a host share a connection.
func TestHTTP2KeepsItsConnection(t *testing.T) {
	opt, conns, requests := h2Server(t, func(p *h2Peer, s uint32) bool { p.answer(s); return true })
	f := newTest(t, opt)
	for range 10 {
		checkState(t, f.Fetch(t.Context(), Request{URL: "https://example.com/"}), StateOK)
	}
	if conns.Load() != 1 || requests.Load() != 10 {
		t.Errorf("%d requests on %d connections, want 10 on one", requests.Load(), conns.Load())
	}
}
