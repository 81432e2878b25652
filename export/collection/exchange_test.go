package collection

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"fossick/store"
)

// TestExchanges: a page comes with the exchange that gave its body, and those that said no
// more than it: its own later ones, redirects to it over each other, and duplicates of it; not
// with what its body is no longer of, what is not chosen, and what another page's is.
func TestExchanges(t *testing.T) {
	dir := makeStore(t, filepath.Join(t.TempDir(), "s"), []crawled{
		{path: "a.test/1", body: "one", links: []string{"a.test/copy", "a.test/moved", "a.test/twice", "b.test/copy", "a.test/loop", "a.test/aside"}, page: store.Page{At: 5000}},
		{path: "a.test/2", body: "two"},
	})
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	b := s.Batch()
	id := func(path string) store.ID {
		seen, err := s.Lookup([]store.Hash{store.HashURL(urlOf(path))})
		if err != nil || seen[0].ID == 0 {
			t.Fatalf("%s: %v", path, err)
		}
		return seen[0].ID
	}
	put := func(path string, visit int, start int64, kind store.WireKind, to string, state string) {
		v := store.Visit{Start: start}
		if to != "" {
			v.Location = id(to)
		}
		url := urlOf(path)
		w := store.Wire{Protocol: "http/1.1", Response: fmt.Appendf(nil, "%s %d\r\n", path, visit)}
		err := errors.Join(b.PutVisit(id(path), visit, v), b.PutWire(id(path), visit, store.WireRecord{Kind: kind, Packed: store.PackWire(url, &w)}))
		if state != "" {
			err = errors.Join(err, b.PutFate(id(path), store.Fate{State: state, Page: map[string]uint64{"duplicate": 1}[state]}))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	put("a.test/1", 2, 4000, store.WirePage, "", "") // of a body that was replaced by a build that keeps no headers
	put("a.test/1", 3, 5000, store.WirePage, "", "")
	put("a.test/1", 4, 6000, store.WireSame, "", "")
	put("a.test/1", 5, 7000, store.WireRepeat, "", "")
	put("a.test/copy", 1, 100, store.WireRepeat, "", "duplicate")
	put("b.test/copy", 1, 100, store.WireRepeat, "", "duplicate")
	put("a.test/moved", 1, 200, store.WireRedirect, "a.test/twice", "redirect")
	put("a.test/twice", 1, 300, store.WireRedirect, "a.test/copy", "redirect")
	put("a.test/loop", 1, 300, store.WireRedirect, "a.test/loop", "redirect")
	put("a.test/aside", 1, 300, store.WireRedirect, "", "redirect") // to where the crawl did not want to go
	if err := errors.Join(b.Commit(), s.Close()); err != nil {
		t.Fatal(err)
	}
	c := open(t, false, dir)
	told := func(choice Choice, want Want) string {
		var lines []string
		pages, _ := all(t, c, choice, want)
		for _, p := range pages {
			if p.Exchange != nil {
				lines = append(lines, fmt.Sprint("gave ", strings.TrimSpace(string(p.Exchange.Response))))
			}
			for _, x := range p.Others {
				lines = append(lines, fmt.Sprint([]string{"", "same", "repeated", "led"}[x.Told], " ", strings.TrimSpace(string(x.Response)), " ", x.At.UnixMilli()))
				if !strings.HasPrefix(string(x.Response), strings.TrimPrefix(x.URL, "http://")+" ") {
					t.Errorf("%s: %q", x.URL, x.Response)
				}
			}
		}
		return strings.Join(lines, "; ")
	}
	const own = "gave a.test/1 3; same a.test/1 4 6000; repeated a.test/1 5 7000; repeated a.test/copy 1 100; led a.test/moved 1 200; led a.test/twice 1 300"
	if got := told(Choice{Hosts: []string{"a.test"}}, Want{Exchanges: true}); got != own {
		t.Errorf("got  %s\nwant %s", got, own)
	}
	if got := told(Choice{}, Want{Exchanges: true}); got != own+"; repeated b.test/copy 1 100" {
		t.Errorf("with the other host: %s", got)
	}
	if got := told(Choice{}, Want{}); got != "" {
		t.Errorf("unasked: %s", got)
	}
}
