package fetch

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// TestBlockedPorts: no connection, and no look-up, for a port of another protocol;
// --hosts may lead anywhere, since that is the user's own word.
func TestBlockedPorts(t *testing.T) {
	f := newTest(t, Options{Resolver: resolverFunc(nil)}) // asking it would panic
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
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	members := strings.Repeat(empty.String(), 100)
	f := newTest(t, Options{MaxBodyBytes: 256 << 10})
	start := time.Now()
	resp := f.Fetch(t.Context(), Request{URL: "http://" + rawServer(t, false, endless("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n", members))})
	checkState(t, resp, StateTooLarge)
	if resp.WireBytes > 512<<10 {
		t.Errorf("%d bytes read in %v", resp.WireBytes, time.Since(start))
	}
}

// TestUnsolicitedAnswer: a second answer that waits on a kept connection, come with
// the first or after it, is not taken for the answer to the next request. (One that
// comes after that was sent cannot be told from its answer.)
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

// TestOddNames: what is no name is not asked for, and what is odd does no harm.
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
