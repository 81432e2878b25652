package fetch

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"fossick/internal/testkit"
)

var publicAddr = netip.MustParseAddr("8.8.8.8")

func TestDNSCacheTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, fail, failure := 0, false, error(&net.DNSError{Err: "no such host", IsNotFound: true})
		c := newDNSCache(Options{Resolver: resolverFunc(func(context.Context, string) ([]netip.Addr, error) {
			asked++
			if fail {
				return nil, failure
			}
			return []netip.Addr{netip.MustParseAddr("::ffff:8.8.8.8")}, nil
		})}.withDefaults())
		want := func(n int, state State) {
			t.Helper()
			addrs, err := c.lookup(t.Context(), "a.example")
			if asked != n || StateOf(err) != state || state == StateOK && addrs[0] != publicAddr {
				t.Errorf("asked %d times, %v, %v; want %d times, %s", asked, addrs, err, n, state)
			}
		}
		want(1, StateOK)
		time.Sleep(5*time.Minute - 1)
		want(1, StateOK)
		time.Sleep(time.Nanosecond)
		fail = true
		want(2, StateNoIP)
		time.Sleep(30*time.Second - 1)
		want(2, StateNoIP)
		time.Sleep(time.Nanosecond)
		fail = false
		want(3, StateOK)
		time.Sleep(5 * time.Minute)
		fail, failure = true, &net.DNSError{Err: "server misbehaving", IsTemporary: true}
		want(4, StateNoIP) // the resolver's own failure is soon forgotten
		time.Sleep(resolverFailTTL)
		fail = false
		want(5, StateOK)
	})
}

// TestNoSuchHost: a missing name differs from a resolver that does not answer.
func TestNoSuchHost(t *testing.T) {
	for _, tc := range []struct {
		name  string
		addrs []netip.Addr
		err   error
		want  bool
	}{
		{"not found", nil, &net.DNSError{Err: "no such host", IsNotFound: true}, true},
		{"no address", nil, nil, true},
		{"server failure", nil, &net.DNSError{Err: "server misbehaving", IsTemporary: true}, false},
		{"time-out", nil, &net.DNSError{Err: "i/o timeout", IsTimeout: true}, false},
		{"no network", nil, &net.DNSError{Err: "dial udp: connect: network is unreachable"}, false},
		{"another error", nil, errors.New("broken"), false},
	} {
		f := testkit.Call(New(Options{Resolver: resolverFunc(func(context.Context, string) ([]netip.Addr, error) { return tc.addrs, tc.err })})).Must(t)
		_, looked := f.Resolve(t.Context(), "a.example:80")
		got := f.Fetch(t.Context(), Request{URL: "http://a.example/"})
		f.Close()
		if StateOf(looked) != StateNoIP || errors.Is(looked, ErrNoSuchHost) != tc.want {
			t.Errorf("%s: Resolve gives %v, want no_ip, no such host: %v", tc.name, looked, tc.want)
		}
		if got.State != StateNoIP || errors.Is(got.Err, ErrNoSuchHost) != tc.want {
			t.Errorf("%s: Fetch gives %s, %v, want no_ip, no such host: %v", tc.name, got.State, got.Err, tc.want)
		}
	}
}

// TestDNSSingleFlight: concurrent look-ups of a name ask the resolver once.
func TestDNSSingleFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		c := newDNSCache(Options{Resolver: resolverFunc(func(context.Context, string) ([]netip.Addr, error) {
			asked.Add(1)
			time.Sleep(time.Second)
			return []netip.Addr{publicAddr}, nil
		})}.withDefaults())
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if _, err := c.lookup(t.Context(), "a.example"); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if asked.Load() != 1 {
			t.Errorf("%d look-ups, want 1", asked.Load())
		}
	})
}

// TestDNSLookupHandedOver: if the caller that looks up gives up, a waiting one takes over.
func TestDNSLookupHandedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		c := newDNSCache(Options{Resolver: resolverFunc(func(ctx context.Context, _ string) ([]netip.Addr, error) {
			asked.Add(1)
			select {
			case <-time.After(2 * time.Second):
				return []netip.Addr{publicAddr}, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		})}.withDefaults())
		hasty, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := c.lookup(hasty, "a.example"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the hasty one got %v", err)
			}
		})
		synctest.Wait()
		wg.Go(func() {
			if addrs, err := c.lookup(t.Context(), "a.example"); err != nil || addrs[0] != publicAddr {
				t.Errorf("the patient one got %v, %v", addrs, err)
			}
		})
		wg.Wait()
		if asked.Load() != 2 {
			t.Errorf("%d look-ups, want 2", asked.Load())
		}
	})
}

func TestDNSCacheBounded(t *testing.T) {
	c := newDNSCache(Options{DNSNames: 10, Resolver: resolverFunc(func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{publicAddr}, nil
	})}.withDefaults())
	for i := range 1000 {
		c.lookup(t.Context(), fmt.Sprintf("h%d.example", i%37))
	}
	if len(c.entries) != 10 || len(c.order) != 10 || cap(c.order) > 64 {
		t.Errorf("%d entries, order %d of %d, want 10", len(c.entries), len(c.order), cap(c.order))
	}
}

// firstTarget returns the address to connect to first, without a connection.
func firstTarget(t *testing.T, f *Fetcher, host string) (netip.Addr, error) {
	t.Helper()
	_, targets, err := f.targets(t.Context(), host)
	if err != nil {
		return netip.Addr{}, err
	}
	return targets[0].Addr(), nil
}

func TestTargets(t *testing.T) {
	f := newTest(t, Options{
		Resolver: resolverFunc(func(_ context.Context, host string) ([]netip.Addr, error) {
			switch host {
			case "mixed.example":
				return []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("2606:4700::1111")}, nil
			case "inside.example":
				return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
			}
			return nil, nil
		}),
		Hosts: map[string]netip.AddrPort{"hosts.example": netip.MustParseAddrPort("127.0.0.7:0")},
	})
	for _, c := range []struct {
		host, want string
		state      State
	}{
		{"mixed.example:80", "2606:4700::1111", StateOK}, // forbidden addresses are skipped
		{"MIXED.example.:80", "2606:4700::1111", StateOK},
		{"inside.example:80", "invalid IP", StateGuardDenied},
		{"empty.example:80", "invalid IP", StateNoIP},
		{"Hosts.Example:8080", "127.0.0.7", StateOK},
		{"[::ffff:8.8.8.8]:80", "8.8.8.8", StateOK},
		{"8.8.8.8:80", "8.8.8.8", StateOK},
		{"[::1]:80", "invalid IP", StateGuardDenied},
	} {
		a, err := firstTarget(t, f, c.host)
		if a.String() != c.want || StateOf(err) != c.state {
			t.Errorf("targets of %q: %v, %v; want %s, %s", c.host, a, err, c.want, c.state)
		}
	}
}

// dnsServer starts a DNS server on loopback, silent for nil answers, and returns its resolver.
func dnsServer(t *testing.T, answer func(q dnsmessage.Message, tcp bool) []byte) *net.Resolver {
	t.Helper()
	ln := testkit.Call(net.Listen("tcp", "127.0.0.1:0")).Must(t)
	pc := testkit.Call(net.ListenPacket("udp", ln.Addr().String())).Must(t)
	t.Cleanup(func() { ln.Close(); pc.Close() })
	reply := func(text []byte, tcp bool) []byte {
		var q dnsmessage.Message
		if q.Unpack(text) != nil {
			return nil
		}
		return answer(q, tcp)
	}
	go func() {
		buf := make([]byte, 4096)
		for {
			n, from, err := pc.ReadFrom(buf)
			if err != nil {
				return
			}
			if r := reply(buf[:n], false); r != nil {
				pc.WriteTo(r, from)
			}
		}
	}()
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			var size [2]byte
			if _, err := io.ReadFull(c, size[:]); err == nil {
				text := make([]byte, binary.BigEndian.Uint16(size[:]))
				if _, err := io.ReadFull(c, text); err == nil {
					r := reply(text, true)
					c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(r))), r...))
				}
			}
			c.Close()
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, ln.Addr().String())
	}}
}

// packed encodes an answer to q with these records.
func packed(q dnsmessage.Message, code dnsmessage.RCode, cut bool, records ...dnsmessage.Resource) []byte {
	q.Header.Response, q.Header.RCode, q.Header.Truncated, q.Header.RecursionAvailable = true, code, cut, true
	q.Answers, q.Additionals = records, nil
	text, err := q.Pack()
	if err != nil {
		return nil
	}
	return text
}

func addressOf(name dnsmessage.Name, a netip.Addr) dnsmessage.Resource {
	return dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: name, Class: dnsmessage.ClassINET}, Body: &dnsmessage.AResource{A: a.As4()}}
}

func aliasOf(name, target dnsmessage.Name) dnsmessage.Resource {
	return dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: name, Class: dnsmessage.ClassINET}, Body: &dnsmessage.CNAMEResource{CNAME: target}}
}

// TestOddNameServers: any response gives a permitted address or no_ip, in time.
func TestOddNameServers(t *testing.T) {
	public := netip.MustParseAddr("203.0.113.7") // for documentation: refused like private ones unless allowed by --allow-net
	many := make([]netip.Addr, 299)
	for i := range many {
		many[i] = netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)})
	}
	other := dnsmessage.MustNewName("other.test.")
	asked := 0
	for name, c := range map[string]struct {
		answer func(q dnsmessage.Message, tcp bool) []byte
		want   State // "": the public address
		none   bool  // the name does not exist; no retry needed
	}{
		"300 addresses by TCP, all private but the last": {func(q dnsmessage.Message, tcp bool) []byte {
			if !tcp {
				return packed(q, 0, true)
			}
			var all []dnsmessage.Resource
			for _, a := range append(many[:299:299], public) {
				all = append(all, addressOf(q.Questions[0].Name, a))
			}
			return packed(q, 0, false, all...)
		}, "", false},
		"an alias of itself": {func(q dnsmessage.Message, _ bool) []byte {
			n := q.Questions[0].Name
			return packed(q, 0, false, aliasOf(n, other), aliasOf(other, n))
		}, StateNoIP, true},
		"this machine by an alias": {func(q dnsmessage.Message, _ bool) []byte {
			return packed(q, 0, false, aliasOf(q.Questions[0].Name, other), addressOf(other, netip.MustParseAddr("127.0.0.1")))
		}, StateGuardDenied, false},
		"no such name": {func(q dnsmessage.Message, _ bool) []byte { return packed(q, dnsmessage.RCodeNameError, false) }, StateNoIP, true},
		"no address":   {func(q dnsmessage.Message, _ bool) []byte { return packed(q, 0, false) }, StateNoIP, true},
		"a failure":    {func(q dnsmessage.Message, _ bool) []byte { return packed(q, dnsmessage.RCodeServerFailure, false) }, StateNoIP, false},
		"a refusal":    {func(q dnsmessage.Message, _ bool) []byte { return packed(q, dnsmessage.RCodeRefused, false) }, StateNoIP, false},
		"silence":      {func(dnsmessage.Message, bool) []byte { return nil }, StateNoIP, false},
		"noise":        {func(dnsmessage.Message, bool) []byte { return []byte("noise that is no answer") }, StateNoIP, false},
		"another address each time, the second this machine": {func(q dnsmessage.Message, _ bool) []byte {
			if q.Questions[0].Type != dnsmessage.TypeA {
				return packed(q, 0, false)
			}
			if asked++; asked > 1 {
				return packed(q, 0, false, addressOf(q.Questions[0].Name, netip.MustParseAddr("127.0.0.1")))
			}
			return packed(q, 0, false, addressOf(q.Questions[0].Name, public))
		}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newTest(t, Options{
				Resolver: dnsServer(t, c.answer), ConnectTimeout: time.Second,
				AllowNet: []netip.Prefix{netip.PrefixFrom(public, 32)},
			})
			start := time.Now()
			a, err := firstTarget(t, f, "a.test:80")
			switch {
			case c.want == "" && (err != nil || a != public):
				t.Errorf("%v, %v; want %v", a, err, public)
			case c.want != "" && (StateOf(err) != c.want || errors.Is(err, ErrNoSuchHost) != c.none):
				t.Errorf("%s, %v; want %s, and that it is not there: %v", StateOf(err), err, c.want, c.none)
			case time.Since(start) > 20*time.Second:
				t.Errorf("it took %v", time.Since(start))
			}
		})
	}
}

func serveOn(t *testing.T, at string, handler http.HandlerFunc) netip.AddrPort {
	t.Helper()
	l := testkit.Call(net.Listen("tcp", at)).Must(t)
	srv := &httptest.Server{Listener: l, Config: &http.Server{Handler: handler}}
	srv.Start()
	t.Cleanup(srv.Close)
	return netip.MustParseAddrPort(l.Addr().String())
}

func say200(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, text)
	}
}

// TestResolveFindsWhoAnswers: the first address that accepts a connection counts.
func TestResolveFindsWhoAnswers(t *testing.T) {
	at := serveOn(t, "127.0.0.2:0", say200("<p>x"))
	f := newTest(t, Options{Resolver: &answers{netip.MustParseAddr("127.0.0.1"), at.Addr()}})
	host := fmt.Sprintf("liar.test:%d", at.Port())
	if a, err := f.Resolve(t.Context(), host); err != nil || a != at.Addr() {
		t.Errorf("%v, %v; want %v", a, err, at.Addr())
	}
	f = newTest(t, Options{Resolver: &answers{netip.MustParseAddr("127.0.0.1")}})
	if a, err := f.Resolve(t.Context(), host); StateOf(err) != StateConnectError {
		t.Errorf("%v, %v; want connect_error", a, err)
	}
	if _, err := f.Resolve(t.Context(), "liar.test"); err == nil {
		t.Error("a name without a port is resolved")
	}
}

// TestRequestAddr: an exchange connects to the given address, if the guard permits it.
func TestRequestAddr(t *testing.T) {
	first := serveOn(t, "127.0.0.1:0", say200("<p>first"))
	second := serveOn(t, fmt.Sprintf("127.0.0.2:%d", first.Port()), say200("<p>second"))
	f := newTest(t, Options{Resolver: &answers{first.Addr(), second.Addr()}})
	url := fmt.Sprintf("http://two.test:%d/", first.Port())
	for _, at := range []netip.AddrPort{first, second} {
		f.transport.CloseIdleConnections()
		if r := f.Fetch(t.Context(), Request{URL: url, Addr: at.Addr()}); r.State != StateOK || r.Addr != at.Addr() {
			t.Errorf("told %v: %s from %v, %v", at, r.State, r.Addr, r.Err)
		}
	}
	f.transport.CloseIdleConnections()
	if r := f.Fetch(t.Context(), Request{URL: url, Addr: netip.MustParseAddr("127.0.0.3")}); r.State != StateConnectError {
		t.Errorf("where nobody listens: %s from %v", r.State, r.Addr)
	}
	if r := f.Fetch(t.Context(), Request{URL: url, Addr: netip.MustParseAddr("10.0.0.1")}); r.State != StateGuardDenied {
		t.Errorf("inside: %s, %v", r.State, r.Err)
	}
}
