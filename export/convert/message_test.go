package convert

import (
	"bytes"
	"slices"
	"testing"
)

// each is a message of each kind.
var each = []message{
	{Kind: hello, Name: "1", Print: "p", Collects: true},
	{Kind: hello, Name: "2", Print: "q", Again: true},
	{Kind: offer, Store: &input{Name: "1", Fingerprint: "p"}, Files: []part{{Name: "parts/0/links"}, {Name: "parts/0/aliases", Bytes: 3}}},
	{Kind: want, File: 2, From: 7},
	{Kind: piece, File: 2, From: 7, Bytes: []byte("x")},
	{Kind: done, Result: &Result{Counts: Counts{Pages: 3}, At: "1"}},
}

// FuzzMessage: what is read as a message is one that is written the same; nothing panics.
func FuzzMessage(f *testing.F) {
	for _, m := range each {
		f.Add(m.encode())
	}
	f.Add([]byte{})
	f.Add(message{Kind: piece}.encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decodeMessage(b)
		if err != nil {
			return
		}
		if again, err := decodeMessage(m.encode()); err != nil || !bytes.Equal(again.encode(), m.encode()) {
			t.Errorf("%+v is read as %+v, %v", m, again, err)
		}
		if _, err := under(storeFolder(3), m.Files); m.Kind == offer && err == nil && !slices.IsSortedFunc(m.Files[:len(m.Files)-2], func(a, b part) int { return int(a.Last) - int(b.Last) }) {
			t.Errorf("chunks %+v", m.Files)
		}
	})
}

// TestUnder: files of others get no other names than those of parts.
func TestUnder(t *testing.T) {
	chunk := func(n int, last uint64) part { return part{Name: storeFolder(0) + chunkName(n), Last: last} }
	rest := []part{{Name: "parts/0/links"}, {Name: "parts/0/aliases"}}
	for _, bad := range [][]part{
		{chunk(0, 0)},
		rest[:1],
		rest[1:],
		{rest[1], rest[0]},
		append([]part{chunk(0, 0)}, rest...),
		append([]part{chunk(0, 9), chunk(1, 9)}, rest...),
		append([]part{chunk(1, 9)}, rest...),
		append([]part{{Name: "parts/0/../../x", Last: 1}}, rest...),
	} {
		if named, err := under("parts/4/", bad); err == nil {
			t.Errorf("%+v is %+v", bad, named)
		}
	}
	named, err := under("parts/4/", append([]part{chunk(0, 5), chunk(1, 9)}, rest...))
	if err != nil || len(named) != 4 || named[1].Name != "parts/4/pages-00001" || named[3].Name != "parts/4/aliases" {
		t.Errorf("%+v, %v", named, err)
	}
}
