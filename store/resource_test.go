package store

import (
	"bytes"
	"net/netip"
	"slices"
	"testing"

	"fossick/internal/testkit"
)

// TestResources: what a rendered page is made of is kept with it: it goes when the page is replaced, withdrawn
// or gone, and when its own URL is to be forgotten.
func TestResources(t *testing.T) {
	const script = "http://cdn.test/app.js"
	sent := Wire{Protocol: "http/1.1", Addr: netip.MustParseAddr("192.0.2.1"), Request: []byte("GET /app.js HTTP/1.1\r\nHost: cdn.test\r\n"), Response: []byte("HTTP/1.1 200 OK\r\n")}
	of := func(s *Store, want int) []Resource {
		t.Helper()
		all := testkit.Call(s.Resources(1)).Must(t)
		if len(all) != want {
			t.Errorf("%d resources, want %d", len(all), want)
		}
		return all
	}
	stored := func() *Store {
		s, p := create(t), somePage()
		alter(t, s, func(b *Batch) {
			testkit.Must(t, b.PutSeen(HashURL(p.URL), p.ID, false), b.PutDiscovery(p.ID, Discovery{URL: p.URL}), b.PutVisit(p.ID, 1, Visit{}), b.PutOutcome(p.ID, Outcome{State: "ok", Page: 1}),
				b.PutPage(p, s.Compress([]byte("made by it."))), b.PutCounts(&Counts{Pages: 1}), b.PutResources(1, []Resource{
					{URL: p.URL, Start: 5, ContentType: "text/html; charset=iso-8859-1", Body: s.Compress([]byte("shell"))},
					{URL: script, Start: 6, ContentType: "text/javascript", Headers: PackWire(script, &sent), Body: s.Compress([]byte("code"))},
				}))
		})
		return s
	}
	s := stored()
	all := of(s, 2)
	if r := all[1]; all[0].URL != u2 || string(all[0].Body) != "shell" || string(r.Body) != "code" || r.Start != 6 ||
		!bytes.Equal(r.Wire.Request, sent.Request) || !bytes.Equal(r.Wire.Response, sent.Response) || r.Wire.Addr != sent.Addr {
		t.Errorf("read %+v", all)
	}
	for what, change := range map[string]func(b *Batch, p *Page) error{
		"replaced":  func(b *Batch, p *Page) error { return b.ReplacePage(p, p, b.s.Compress([]byte("new"))) },
		"withdrawn": func(b *Batch, p *Page) error { return b.WithdrawPage(p) },
		"dropped":   func(b *Batch, p *Page) error { return DuplicatesIn(b).Drop(p, "http://x.test/") },
	} {
		s := stored()
		alter(t, s, func(b *Batch) { testkit.Must(t, change(b, somePage())) })
		if t.Log(what); of(s, 0) != nil {
			t.Errorf("%s: resources are left", what)
		}
	}
	alter(t, s, func(b *Batch) { testkit.Must(t, b.moveResources(1, 3)) })
	of(s, 0)
	alter(t, s, func(b *Batch) {
		testkit.Must(t, b.moveResources(3, 1), b.set(resourceKey(9, 0), []byte("x")), b.set(resourceKey(1, 7), []byte("x")))
	})
	problems, _ := s.repair(t.Context()) // the links of somePage lead nowhere
	if found := slices.DeleteFunc(problems, func(p Problem) bool { return p.Key[1] != keyResource }); len(found) != 2 {
		t.Errorf("repair found %+v; want a resource of no page and an unreadable one", found)
	}
	of(s, 2)
	testkit.Call(withdraw(t.Context(), s, []Forget{{Pattern: "cdn.test"}})).Must(t)
	of(s, 1)
	alter(t, s, func(b *Batch) { testkit.Must(t, b.PutResources(1, all), b.delete(resourceKey(1, 0))) })
	of(s, 0) // the script's answer is not the page's own
}

// TestForgetManyResources: more answers of a script host than one transaction may delete.
func TestForgetManyResources(t *testing.T) {
	s, in := create(t), batches{}
	in.s = s
	for n := range uint64(60_000) {
		testkit.Must(t, in.add(func(b *Batch) error { return b.PutResources(n, []Resource{{URL: "http://cdn.test/app.js"}}) }))
	}
	testkit.Must(t, in.flush())
	testkit.Call(withdraw(t.Context(), s, []Forget{{Pattern: "cdn.test"}})).Must(t)
	if all, err := s.Resources(59_999); len(all) > 0 || err != nil {
		t.Errorf("%d resources are left, %v", len(all), err)
	}
}
