package sources

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"fossick/graph"
	"fossick/store"
)

// standsFor is the rule, URL by URL: on until what is no alias, or stands in a circle.
func standsFor(a Aliases, id store.ID) store.ID {
	inCircle := func(id store.ID) bool {
		at := a[id]
		for range len(a) {
			if at == id {
				return true
			}
			at = a[at] // 0 leads to 0
		}
		return false
	}
	for {
		next, is := a[id]
		if !is || inCircle(id) {
			return id
		}
		id = next
	}
}

// TestAliasesEqualRule compares on random redirects: chains, trees, circles.
func TestAliasesEqualRule(t *testing.T) {
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := 1 + rng.IntN(30)
		a := Aliases{}
		for range rng.IntN(2 * n) {
			a[store.ID(1+rng.IntN(n))] = store.ID(1 + rng.IntN(n))
		}
		want := Aliases{}
		for id := range a {
			want[id] = standsFor(a, id)
		}
		given := maps.Clone(a)
		a.settle()
		if !maps.Equal(a, want) {
			t.Fatalf("%v: got %v, want %v", given, a, want)
		}
	}
}

// TestAliasesAreFast settles a long chain, and many redirects into one circle.
func TestAliasesAreFast(t *testing.T) {
	const n = 200_000 // in a square of it the test would not end
	a := Aliases{1: 2, 2: 1}
	for i := store.ID(3); i < n; i++ {
		a[i] = i + 1 // a chain to n
		a[n+i] = 1
	}
	a.settle()
	if a[3] != n || a[n-1] != n || a[n+5] != 1 || a[1] != 1 || a[2] != 2 {
		t.Error("they stand for the wrong ones")
	}
}

// linkedStore writes a store of URLs 1 … n of which some are pages with links, some
// redirects, some duplicates, and some wait.
func linkedStore(t *testing.T, dir string, rng *rand.Rand) (pages map[store.ID][]store.ID, same Aliases) {
	t.Helper()
	s, err := store.Create(dir, store.Info{})
	if err != nil {
		t.Fatal(err)
	}
	n := 2 + rng.IntN(30)
	pages, same = map[store.ID][]store.ID{}, Aliases{}
	var stored []store.ID // by page number − 1
	b := s.Batch()
	put := func(errs ...error) {
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	counts := store.Counts{URLs: uint64(n), States: map[string]uint64{}}
	for i := 1; i <= n; i++ {
		id, url := store.ID(i), urlOf(i)
		put(b.PutSeen(store.HashURL(url), id, false), b.PutBirth(id, store.Birth{URL: url}))
		any := func() store.ID { return store.ID(1 + rng.IntN(n)) }
		switch kind := rng.IntN(4); {
		case kind == 0:
			put(b.PutQueued(id, store.Queued{}))
		case kind == 1:
			same[id] = any()
			put(b.PutVisit(id, 1, store.Visit{State: "redirect", Location: any()}),
				b.PutVisit(id, 2, store.Visit{State: "redirect", Location: same[id]}), b.PutFate(id, store.Fate{State: "redirect"}))
		case kind == 2 && len(stored) > 0:
			number := 1 + rng.IntN(len(stored))
			same[id] = stored[number-1]
			put(b.PutVisit(id, 1, store.Visit{State: "duplicate"}), b.PutFate(id, store.Fate{State: "duplicate", Page: uint64(number)}))
		default:
			links := []store.ID{}
			for range rng.IntN(6) {
				links = append(links, any())
			}
			stored, pages[id] = append(stored, id), links
			p := &store.Page{Number: uint64(len(stored)), ID: id, URL: url, Checksum: fmt.Appendf(nil, "%016d", i), Links: links}
			put(b.PutVisit(id, 1, store.Visit{State: "redirect", Location: any()}), // once
				b.PutVisit(id, 2, store.Visit{State: "ok"}), b.PutPage(p, s.Compress(nil)), b.PutFate(id, store.Fate{State: "ok", Page: p.Number}))
		}
	}
	counts.Pages = uint64(len(stored))
	put(b.PutCounts(&counts), b.Commit(), s.Close())
	return pages, same
}

func urlOf(i int) string { return fmt.Sprintf("http://h%d.test/%d", i%3, i) }

// TestGraphOfStore compares the graph of random stores with its definition: pages and
// what they link to, redirects and duplicates as what they stand for.
func TestGraphOfStore(t *testing.T) {
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 2))
		dir := filepath.Join(t.TempDir(), "store")
		pages, same := linkedStore(t, dir, rng)
		nodes, edges := map[string]bool{}, map[[2]string]bool{}
		for id, links := range pages {
			nodes[urlOf(int(id))] = true
			for _, to := range links {
				if to = standsFor(same, to); to != id {
					nodes[urlOf(int(to))] = true
					edges[[2]string{urlOf(int(id)), urlOf(int(to))}] = true
				}
			}
		}
		s, err := store.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "graph")
		_, err = Source{Name: dir, OpenStore: func(string) (*store.Store, func() error, error) { return s, func() error { return nil }, nil }}.Build(t.Context(), path, 0)
		if err := errors.Join(err, s.Close()); err != nil {
			t.Fatal(err)
		}
		gotNodes, gotEdges := graphByName(t, path)
		if !slices.Equal(slices.Sorted(maps.Keys(gotNodes)), slices.Sorted(maps.Keys(nodes))) || !maps.Equal(gotEdges, edges) {
			t.Errorf("seed %d: %v, same %v\n got %v, %v\nwant %v, %v", seed, pages, same, gotNodes, gotEdges, nodes, edges)
		}
	}
}

// graphByName reads a graph back.
func graphByName(t *testing.T, path string) (nodes map[string]bool, edges map[[2]string]bool) {
	t.Helper()
	g, err := graph.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	nodes, edges = map[string]bool{}, map[[2]string]bool{}
	name := func(v uint32) string {
		n, err := g.Name(v)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	err = g.Scan(0, g.Nodes(), func(v uint32, links []uint32) error {
		nodes[name(v)] = true
		for _, to := range links {
			edges[[2]string{name(v), name(to)}] = true
		}
		return nil
	})
	if err := errors.Join(err, g.Close()); err != nil {
		t.Fatal(err)
	}
	return nodes, edges
}
