package store

import (
	"bytes"
	"strings"
	"testing"

	"fossick/internal/testkit"
)

// kept returns a crawled store whose page 2 was stored at 10, 20, 30 and 40 with different bodies.
func kept(t *testing.T) (s *Store, bodies [][]byte) {
	t.Helper()
	s = crawled(t)
	counts := testkit.Call(s.Counts()).Must(t)
	first := testkit.Call(s.Page(2)).Must(t)
	body := testkit.Call(s.Body(2)).Must(t)
	first.At = 10
	alter(t, s, func(b *Batch) { testkit.Must(t, b.PutPageRecord(first)) })
	bodies = append(bodies, body)
	for n := range 3 {
		old := testkit.Call(s.Page(2)).Must(t)
		body := []byte(strings.Repeat("A page about bees, and of their hives; ", 50) + strings.Repeat("z", n+1))
		p := *old
		p.At, p.Bytes, p.Checksum, p.Signature = int64(20+10*n), int64(len(body)), []byte("checksum no. " + strings.Repeat("x", n+1) + "  ")[:16], nil
		frame := testkit.Call(CompressFormer(bodies[n], body)).Must(t)
		counts.Bytes += uint64(p.Bytes) - uint64(old.Bytes)
		alter(t, s, func(b *Batch) {
			testkit.Must(t, b.KeepVersion(old, &p, frame), b.ReplacePage(old, &p, s.Compress(body)), b.PutCounts(&counts))
		})
		bodies = append(bodies, body)
	}
	return s, bodies
}

// TestVersions: the body of any time is returned; one that differs by a word takes few bytes.
func TestVersions(t *testing.T) {
	s, bodies := kept(t)
	p := testkit.Call(s.Page(2)).Must(t)
	for at, want := range map[int64]int{0: 0, 10: 0, 19: 0, 20: 1, 29: 1, 30: 2, 39: 2, 40: -1, 99: -1} {
		v, body, err := s.Former(p, at)
		testkit.Must(t, err)
		switch {
		case want < 0 && v != nil:
			t.Errorf("at %d: version %d, want the current body", at, v.Number)
		case want >= 0 && (v == nil || v.Number != want+1 || !bytes.Equal(body, bodies[want])):
			t.Errorf("at %d: %+v, want version %d", at, v, want+1)
		}
	}
	var v Version
	testkit.Must(t, s.records.get(versionKey(2, 3), &v))
	if len(v.Frame) > 40 || int(v.Bytes) != len(bodies[2]) {
		t.Errorf("%d bytes take %d, alone they take %d", v.Bytes, len(v.Frame), len(s.Compress(bodies[2])))
	}
	if problems, err := s.Verify(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

// TestVersionsGo: former bodies go with a page's content, or if their dictionary is lost.
func TestVersionsGo(t *testing.T) {
	for name, change := range map[string]func(s *Store, b *Batch, p *Page) error{
		"withdrawn":               func(_ *Store, b *Batch, p *Page) error { return b.WithdrawPage(p) },
		"stored by another":       func(_ *Store, b *Batch, p *Page) error { return DuplicatesBatch{b}.Drop(p, "http://b.test/") },
		"the former body is lost": func(_ *Store, b *Batch, p *Page) error { q := *p; q.Versions = 0; return b.KeepVersion(p, &q, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := kept(t)
			p := testkit.Call(s.Page(2)).Must(t)
			alter(t, s, func(b *Batch) { testkit.Must(t, change(s, b, p)) })
			for n := 1; n <= 3; n++ {
				if s.records.get(versionKey(2, n), &Version{}) == nil {
					t.Errorf("version %d is still there", n)
				}
			}
		})
	}
}

// TestBrokenVersions: repair removes unreadable former bodies and those packed against them.
func TestBrokenVersions(t *testing.T) {
	s, bodies := kept(t)
	var v Version
	testkit.Must(t, s.records.get(versionKey(2, 2), &v))
	v.Frame[len(v.Frame)-1] ^= 1
	alter(t, s, func(b *Batch) {
		testkit.Must(t, b.put(versionKey(2, 2), &v), b.put(versionKey(2, 4), &v), b.put(versionKey(77, 1), &v))
	})
	problems, err := s.Verify(t.Context())
	if err != nil || len(problems) != 4 {
		t.Fatalf("%v, %v", problems, err)
	}
	_, err = s.repair(t.Context())
	testkit.Must(t, err)
	if problems, err = s.Verify(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("after repair: %v, %v", problems, err)
	}
	p, err := s.Page(2)
	testkit.Must(t, err)
	if v, body, err := s.Former(p, 0); err != nil || v == nil || v.Number != 3 || !bytes.Equal(body, bodies[2]) {
		t.Errorf("the oldest that is left: %+v, %v", v, err)
	}
}

// goneAndChanged returns crawled after a refresh: page 5 is gone, page 2 has new content.
func goneAndChanged(t *testing.T) *Store {
	t.Helper()
	s := crawled(t)
	old := testkit.Call(s.Page(2)).Must(t)
	c := testkit.Call(s.Counts()).Must(t)
	body := []byte(strings.Repeat("y", 77))
	p := *old
	p.Checksum, p.Signature, p.Bytes, p.Checked = []byte("sixteen bytes.ok"), signatureOf(9, 9), int64(len(body)), 5
	alter(t, s, func(b *Batch) {
		c.Bytes += uint64(p.Bytes) - uint64(old.Bytes)
		c.States = map[string]uint64{"ok": 4, "code": 2, "duplicate": 1}
		testkit.Must(t, b.ReplacePage(old, &p, s.Compress(body)), b.PutVisit(2, 1, Visit{State: "ok", Was: old.Checksum}),
			b.PutOutcome(5, Outcome{State: "code", Page: 5, Stored: true, Next: 100}), b.PutCounts(&c))
	})
	return s
}

// TestRefreshedStore: a refreshed store is sound, and repair keeps the outcome of the gone page.
func TestRefreshedStore(t *testing.T) {
	s := goneAndChanged(t)
	sound := func(what string) {
		t.Helper()
		if problems, err := s.Verify(t.Context()); err != nil || len(problems) > 0 {
			t.Errorf("%s: %v, %v", what, problems, err)
		}
	}
	sound("after a refresh")
	if l, err := s.Label(2); err != nil || l != nil {
		t.Errorf("the changed page has the label %v, %v", l, err)
	}
	stale := func(before, now int64) (ids []ID) {
		for p, err := range s.Stale(before, now) {
			testkit.Must(t, err)
			ids = append(ids, p.ID)
		}
		return ids
	}
	equal(t, "pages not seen since 3", stale(3, 50), []ID{1, 3, 4})
	equal(t, "and those due at 200", stale(6, 200), []ID{1, 2, 3, 4, 5})

	alter(t, s, func(b *Batch) { testkit.Must(t, b.delete(numKey(keyBody, 1))) })
	testkit.Call(s.repair(t.Context())).Must(t)
	sound("after repair")
	c := testkit.Call(s.URLs().CopyOf(5)).Must(t)
	if !c.Outcome.Stored || c.Outcome.State != "code" || c.Page.Number != 1 || c.Page.ID != 5 {
		t.Errorf("the page that has gone: %+v, %+v; want it as page 1, gone", c.Outcome, c.Page)
	}

	alter(t, s, func(b *Batch) { testkit.Must(t, b.PutOutcome(7, Outcome{State: "code", Page: 3, Stored: true})) })
	if problems, err := s.Verify(t.Context()); err != nil || len(problems) != 1 {
		t.Errorf("of an outcome with another URL's page: %v, %v; want one problem", problems, err)
	}
}
