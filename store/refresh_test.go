package store

import (
	"strings"
	"testing"
)

// goneAndChanged is a crawled store after a refresh: page 5 has gone, page 2 has
// other content and so no label.
func goneAndChanged(t *testing.T) *Store {
	t.Helper()
	s := crawled(t)
	old, err := s.Page(2)
	must(t, err)
	c, err := s.Counts()
	must(t, err)
	body := []byte(strings.Repeat("y", 77))
	p := *old
	p.Checksum, p.Signature, p.Bytes, p.Checked = []byte("sixteen bytes.ok"), signatureOf(9, 9), int64(len(body)), 5
	alter(t, s, func(b *Batch) {
		c.Bytes += uint64(p.Bytes) - uint64(old.Bytes)
		c.States = map[string]uint64{"ok": 4, "code": 2, "duplicate": 1}
		must(t, b.ReplacePage(old, &p, s.Compress(body)), b.PutVisit(2, 1, Visit{State: "ok", Was: old.Checksum}),
			b.PutFate(5, Fate{State: "code", Page: 5, Stored: true, Next: 100}), b.PutCounts(&c))
	})
	return s
}

// TestRefreshedStore: a store is sound after a refresh; repair, which gives the
// last page's number to one that cannot be read, leaves the page that has gone
// with its fate.
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
			must(t, err)
			ids = append(ids, p.ID)
		}
		return ids
	}
	equal(t, "pages not seen since 3", stale(3, 50), []ID{1, 3, 4})
	equal(t, "and those due at 200", stale(6, 200), []ID{1, 2, 3, 4, 5})

	alter(t, s, func(b *Batch) { must(t, b.delete(numKey(keyBody, 1))) })
	_, err := s.repair(t.Context())
	must(t, err)
	sound("after repair")
	c, err := s.URLs().CopyOf(5)
	must(t, err)
	if !c.Fate.Stored || c.Fate.State != "code" || c.Page.Number != 1 || c.Page.ID != 5 {
		t.Errorf("the page that has gone: %+v, %+v; want it as page 1, gone", c.Fate, c.Page)
	}

	alter(t, s, func(b *Batch) { must(t, b.PutFate(7, Fate{State: "code", Page: 3, Stored: true})) })
	if problems, err := s.Verify(t.Context()); err != nil || len(problems) != 1 {
		t.Errorf("of a fate with another URL's page: %v, %v; want one problem", problems, err)
	}
}
