package store

import (
	"fmt"
	"testing"
)

// TestKnown holds the walk against single look-ups: URLs that wait and that ended, with no,
// one and several visits, some with headers.
func TestKnown(t *testing.T) {
	s := create(t)
	wire := someWires()[0]
	alter(t, s, func(b *Batch) {
		for n := ID(1); n <= 60; n++ {
			must(t, b.PutBirth(n, Birth{URL: fmt.Sprintf("http://h.example/%d", n), Via: ViaLink, Depth: int(n % 5)}))
			if n%3 != 0 {
				must(t, b.PutFate(n, Fate{State: "code", Score: float64(n)}))
			}
			for v := 1; v <= int(n%4); v++ {
				must(t, b.PutVisit(n, v, Visit{Start: int64(v), State: "code", Code: 400 + v}))
				if n%8 > 4 {
					must(t, b.PutWire(n, v, WireRecord{Kind: WirePage, Packed: PackWire("", &wire)}))
				}
			}
		}
	})
	n := ID(0)
	for k, err := range s.URLs().Known() {
		must(t, err)
		n++
		birth, err := s.URLs().Birth(n)
		must(t, err)
		if k.ID != n || k.Birth != birth || (k.Fate == nil) != (n%3 == 0) || k.Fate != nil && k.Fate.Score != float64(n) || len(k.Visits) != int(n%4) {
			t.Fatalf("URL %d: %+v", n, k)
		}
		for i, v := range k.Visits {
			if v.Code != 401+i {
				t.Errorf("URL %d, visit %d: %+v", n, i+1, v)
			}
		}
		x, err := s.URLs().Exchanged(n)
		must(t, err)
		if len(x) != len(k.Wires) {
			t.Fatalf("URL %d has %d headers, want %d", n, len(k.Wires), len(x))
		}
		for i := range x {
			if !sameWire(x[i].Wire, k.Wires[i].Wire) || x[i].Visit != k.Wires[i].Visit {
				t.Errorf("URL %d, header %d: %+v, want %+v", n, i, k.Wires[i], x[i])
			}
		}
	}
	if n != 60 {
		t.Errorf("%d URLs", n)
	}
}

// TestListed: pages come with what refine says of them, and how large they are on disk.
func TestListed(t *testing.T) {
	s := create(t)
	bodies := map[uint64][]byte{}
	alter(t, s, func(b *Batch) {
		for n := uint64(1); n <= 9; n++ {
			p := *somePage()
			p.Number, p.ID, p.Checksum, p.Charset, p.LinkKinds = n, ID(n), []byte{byte(n)}, "utf-8", []int{0, int(n), 1}
			body := make([]byte, n*n*500)
			for i := range body {
				body[i] = byte(i * i * int(n) >> 3)
			}
			bodies[n] = s.Compress(body)
			must(t, b.PutBirth(p.ID, Birth{URL: p.URL}), b.PutPage(&p, bodies[n]))
			if n%2 == 0 {
				must(t, b.PutLabel(n, Label{Label: fmt.Sprint("label", n)}))
			}
		}
	})
	n := uint64(0)
	for l, err := range s.Listed() {
		must(t, err)
		n++
		want, err := s.Page(n)
		must(t, err)
		equal(t, "page", &l.Page, want)
		if off := l.Packed - int64(len(bodies[n])); off < -2 || off > 2 {
			t.Errorf("page %d: %d bytes packed, want %d", n, l.Packed, len(bodies[n]))
		}
		if (l.Refined != nil) != (n%2 == 0) || l.Refined != nil && l.Refined.Label != fmt.Sprint("label", n) {
			t.Errorf("page %d: %+v", n, l.Refined)
		}
	}
	if n != 9 {
		t.Errorf("%d pages", n)
	}
}
