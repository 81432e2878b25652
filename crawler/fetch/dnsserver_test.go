package fetch

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// dnsServer answers questions on loopback by UDP and TCP; a nil answer is none. It
// returns a resolver that asks it.
func dnsServer(t *testing.T, answer func(q dnsmessage.Message, tcp bool) []byte) *net.Resolver {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	pc, err := net.ListenPacket("udp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
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

// packed is an answer to q with these records.
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

// TestOddNameServers: what name servers answer, well or ill, is an address that the
// guard lets through, or no_ip, within the time for connecting.
func TestOddNameServers(t *testing.T) {
	public := netip.MustParseAddr("203.0.113.7") // documentation: refused as a private one is, but for --allow-net
	many := make([]netip.Addr, 299)
	for i := range many {
		many[i] = netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)})
	}
	other := dnsmessage.MustNewName("other.test.")
	asked := 0
	for name, c := range map[string]struct {
		answer func(q dnsmessage.Message, tcp bool) []byte
		want   State // "" is the public address
		none   bool  // the name is not there: nobody need ask again
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
