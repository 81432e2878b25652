package store

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"fossick/internal/testkit"
)

const (
	someRequest = "GET / HTTP/1.1\r\nHost: a.example\r\nUser-Agent: fossick/1.0 (+https://example.org/bot)\r\nAccept: text/html, application/xhtml+xml, text/plain\r\nAccept-Encoding: gzip\r\n"
	someAnswer  = "HTTP/1.1 200 OK\r\nDate: Tue, 24 Nov 2026 03:21:43 GMT\r\nserver: Odd\r\nContent-Type: text/html; charset=UTF-8\r\nX-b: \xe9\xff\r\nLast-Modified: Mon, 23 Nov 2026 00:00:00 GMT\r\n"
)

// someWires returns headers of u1, including text that resembles the packed format.
func someWires() []Wire {
	v4, v6 := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")
	return []Wire{
		{Protocol: "http/1.1", Addr: v4, Request: []byte(someRequest), Response: []byte(someAnswer)},
		{Protocol: "h2", Addr: v6, Rebuilt: true, Request: []byte("GET /else HTTP/1.1\r\nhost: a.example\r\n"), Response: []byte("HTTP/1.1 200 OK\r\n")},
		{Protocol: "http/1.0", Cut: true, Request: []byte("GET / HTTP/1.1\r\nHost: a.example\r\n"), Response: []byte("HTTP/1.0 200 OK\r\nDate: Tue, 24 Nov 2026 03:21:43 GMT")},
		{Protocol: "http/1.1", Response: []byte("HTTP/1.1 200 OK\r\nX: \x01abcd\r\nDate: Tue, 24 Nov 2026 03:21:43 GMT\r\n")},
		{Protocol: "http/1.1", Response: []byte("X: Mon, 24 Nov 2026 03:21:43 GMT\r\nY: Sun, 06 Nov 2105 24:00:00 GMT\r\nZ: Thu, 01 Jan 1970 00:00:00 GMT Wed, 31 Dec 1969 23:59:59 GMT GMT Fri, 01 Jan 2106 00:00:00 GMT GMT")},
		{Protocol: "http/1.1", Request: bytes.Repeat([]byte("long"), 4000), Response: bytes.Repeat([]byte("x"), 16<<10)},
		{Protocol: "http/1.1", Request: []byte(strings.Repeat("r", 129)), Response: []byte(" GMT")},
	}
}

func sameWire(a, b Wire) bool {
	return a.Protocol == b.Protocol && a.Addr == b.Addr && a.Rebuilt == b.Rebuilt && a.Cut == b.Cut &&
		bytes.Equal(a.Request, b.Request) && bytes.Equal(a.Response, b.Response)
}

// TestWires: headers are returned unchanged with their visits, and are stored compactly.
func TestWires(t *testing.T) {
	s := create(t)
	wires := someWires()
	digest := [wireDigestLen]byte{1, 2, 3}
	alter(t, s, func(b *Batch) {
		testkit.Must(t, b.PutDiscovery(1, Discovery{URL: u1}), b.PutDiscovery(2, Discovery{URL: u2}), b.PutDiscovery(3, Discovery{URL: "http://c.example/"}))
		for i := range wires {
			testkit.Must(t, b.PutVisit(1, i+1, Visit{Start: int64(10 * i), Location: 7}),
				b.PutWire(1, i+1, WireRecord{Kind: WireKind(1 + i%4), Digest: digest, Packed: PackWire(u1, &wires[i])}))
		}
		testkit.Must(t, b.PutVisit(3, 1, Visit{}), b.PutWire(3, 1, WireRecord{Kind: WirePage, Packed: PackWire("", &wires[0])}),
			b.PutVisit(3, 2, Visit{Location: 1}), b.PutWire(3, 2, WireRecord{Kind: WireRedirect, Packed: PackWire("", &wires[0])}), b.PutOutcome(3, Outcome{State: "redirect"}))
	})
	got := testkit.Call(s.URLs().Exchanged(1)).Must(t)
	if len(got) != len(wires) {
		t.Fatalf("%d exchanges, want %d", len(got), len(wires))
	}
	for i, x := range got {
		want := Exchanged{ID: 1, URL: u1, Visit: i + 1, Kind: WireKind(1 + i%4), Start: int64(10 * i), Location: 7}
		if want.Kind == WireRepeat {
			want.Digest = digest
		}
		if !sameWire(x.Wire, wires[i]) {
			t.Errorf("%d: got\n%+v\nwant\n%+v", i, x.Wire, wires[i])
		}
		x.Wire = Wire{}
		equal(t, "exchange", x, want)
	}
	equal(t, "elsewhere", all(t, s.URLs().Elsewhere()), []Elsewhere{{ID: 1}, {ID: 3, To: 1}})
	if x, err := s.URLs().Exchanged(2); err != nil || len(x) != 0 {
		t.Errorf("of a URL without any: %+v, %v", x, err)
	}
	if n := len(PackWire(u1, &wires[0])); n > 100 {
		t.Errorf("%d bytes of headers take %d", len(someRequest)+len(someAnswer), n)
	}
}

// TestWiresGo: headers are deleted with their content, by owners' requests, and by repair.
func TestWiresGo(t *testing.T) {
	s := create(t)
	wire := func(of string, kind WireKind) WireRecord {
		return WireRecord{Kind: kind, Packed: PackWire(of, &Wire{Response: []byte("X: TOPSECRET\r\n")})}
	}
	left := func(id ID) int {
		x := testkit.Call(s.URLs().Exchanged(id)).Must(t)
		return len(x)
	}
	alter(t, s, func(b *Batch) {
		testkit.Must(t, storePage(s, b))
	})
	p := testkit.Call(s.Page(1)).Must(t)
	alter(t, s, func(b *Batch) {
		for n, kind := range []WireKind{WirePage, WireSame} {
			testkit.Must(t, b.PutVisit(p.ID, n+1, Visit{}), b.PutWire(p.ID, n+1, wire(p.URL, kind)))
		}
		testkit.Must(t, b.PutWire(p.ID, 9, wire(p.URL, WireSame)))
		testkit.Must(t, b.set([]byte("w"), nil))
		k := visitKey(p.ID, 8)
		k[0] = keyWire
		testkit.Must(t, b.PutVisit(p.ID, 8, Visit{}), b.set(k, []byte("nonsense that is long")))
	})
	problems := testkit.Call(s.Verify(t.Context())).Must(t)
	if len(problems) != 3 {
		t.Errorf("found %+v", problems)
	}
	problems = testkit.Call(s.repair(t.Context())).Must(t)
	if len(problems) != 3 || left(p.ID) != 2 {
		t.Errorf("%d are left after %+v", left(p.ID), problems)
	}
	last := ID(0)
	for w, err := range s.URLs().Waiters() {
		testkit.Must(t, err)
		last = w.ID
	}
	discovery := testkit.Call(s.URLs().Discovery(last)).Must(t)
	alter(t, s, func(b *Batch) {
		testkit.Must(t, b.ReplacePage(p, p, s.Compress([]byte("new"))), b.PutVisit(p.ID, 10, Visit{}), b.PutWire(p.ID, 10, wire(p.URL, WirePage)),
			b.PutVisit(last, 1, Visit{}), b.PutWire(last, 1, wire(discovery.URL, WireRedirect)))
	})
	if left(p.ID) != 1 || left(last) != 1 {
		t.Errorf("%d and %d are left", left(p.ID), left(last))
	}
	_, pattern, _ := strings.Cut(discovery.URL, ":")
	if _, err := withdraw(t.Context(), s, []Forget{{Pattern: pattern}}); err != nil || left(p.ID) != 1 || left(last) != 0 {
		t.Errorf("%d and %d are left, %v", left(p.ID), left(last), err)
	}
	alter(t, s, func(b *Batch) { testkit.Must(t, b.WithdrawPage(p)) })
	if left(p.ID) != 0 {
		t.Errorf("%d are left of a page that was withdrawn", left(p.ID))
	}
}

// FuzzWire: reading is robust, damage is noticed, and packed headers unpack unchanged.
func FuzzWire(f *testing.F) {
	for _, w := range someWires() {
		f.Add(u1, w.Request, w.Response, wireValue(WireRecord{Kind: WirePage, Packed: PackWire(u1, &w)}))
	}
	f.Fuzz(func(t *testing.T, url string, request, response, value []byte) {
		var x Exchanged
		if err := x.read([]byte("key"), value); err != nil && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNewer) {
			t.Errorf("%v", err)
		}
		if len(value) > 2 {
			x.unpack(value[1:], url) // skips the checksum
		}
		if len(request)+len(response) > maxWireText-10 {
			return
		}
		want := Wire{Protocol: "h2", Request: request, Response: response, Rebuilt: len(url)%2 == 0}
		packed := wireValue(WireRecord{Kind: WireRepeat, Packed: PackWire(url, &want)})
		x = Exchanged{URL: url}
		if err := x.read([]byte("key"), packed); err != nil || !sameWire(x.Wire, Wire{want.Protocol, netip.Addr{}, request, response, want.Rebuilt, false}) {
			t.Errorf("%v: got\n%+v\nwant\n%+v", err, x.Wire, want)
		}
		rng := rand.New(rand.NewPCG(uint64(len(packed)), 1))
		broken := slices.Clone(packed)
		broken[rng.IntN(len(broken))] ^= 1 << rng.IntN(8)
		if err := x.read([]byte("key"), broken); err == nil {
			t.Errorf("%x is as good as %x", broken, packed)
		}
	})
}

func BenchmarkPackWire(b *testing.B) {
	w := someWires()[0]
	b.ReportAllocs()
	for b.Loop() {
		PackWire(u1, &w)
	}
}
