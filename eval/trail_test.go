package eval

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"fossick/internal/page"
	"fossick/store"
)

const trailBase = "http://a.example/"

// trailStore has a start page, a linked page, a redirect, its target, a failure, a denied and a waiting URL.
func trailStore(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Create(filepath.Join(t.TempDir(), "s"), store.Info{})
	if err != nil {
		t.Fatal(err)
	}
	b := s.Batch()
	put := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	born := func(id, from store.ID, name string, via store.Via) {
		put(b.PutDiscovery(id, store.Discovery{URL: trailBase + name, From: from, Via: via}))
	}
	stored := func(id store.ID, number uint64, name string, at int64, links ...store.ID) {
		put(b.PutPage(&store.Page{Number: number, ID: id, URL: trailBase + name, Checksum: []byte(name + "0123456789abcdef")[:16], Links: links, At: at, Relevant: true}, s.Compress(nil)))
		put(b.PutOutcome(id, store.Outcome{State: "ok", Page: number, Score: float64(id) / 10, At: at}))
	}
	born(1, 0, "seed", store.ViaSeed)
	born(2, 1, "linked", store.ViaLink)
	born(3, 1, "moved", store.ViaLink)
	born(4, 3, "target", store.ViaRedirect)
	born(5, 1, "broken", store.ViaLink)
	born(6, 1, "forbidden", store.ViaLink)
	born(7, 2, "waits", store.ViaLink)
	stored(1, 1, "seed", 10, 2, 3, 5, 6)
	stored(2, 2, "linked", 20, 7, 3)
	stored(4, 3, "target", 40, 7)
	put(b.PutOutcome(3, store.Outcome{State: "redirect", At: 30, Score: 0.3}))
	put(b.PutOutcome(5, store.Outcome{State: "code", At: 25, Score: 0.5}))
	put(b.PutOutcome(6, store.Outcome{State: "robots_denied", At: 26}))
	put(b.PutQueued(7, store.Queued{Priority: 0.2, Score: 0.7}))
	put(b.PutCounts(&store.Counts{URLs: 7, Pages: 3}))
	put(b.Commit())
	return s
}

func TestLoadTrail(t *testing.T) {
	s := trailStore(t)
	defer closed(t, s)
	c := load(t, s)
	if err := c.loadTrail(context.Background(), s); err != nil {
		t.Fatal(err)
	}
	key := func(name string) uint64 { return page.Key(trailBase + name) }
	if !c.Trail.Steps[0].Start || c.Trail.Steps[1].Start {
		t.Error("the first step is a start page, the second is none")
	}
	type want struct {
		name    string
		promise float64
		page    int
		links   []string
	}
	wants := []want{
		{"seed", 0.1, 0, []string{"linked", "target", "broken"}}, {"linked", 0.2, 1, []string{"waits", "target"}},
		{"broken", 0.5, -1, nil}, {"target", 0.4, 2, []string{"waits"}},
	}
	if len(c.Trail.Steps) != len(wants) {
		t.Fatalf("got %d steps, want %d: %+v", len(c.Trail.Steps), len(wants), c.Trail.Steps)
	}
	for i, w := range wants {
		got := c.Trail.Steps[i]
		var links []uint64
		for _, name := range w.links {
			links = append(links, key(name))
		}
		if got.Key != key(w.name) || got.Promise != w.promise || got.Page != w.page || !slices.Equal(got.Links, links) || got.Host != page.Key("a.example:80") {
			t.Errorf("step %d: got %+v, want %+v", i, got, w)
		}
	}
	if len(c.Trail.Waiting) != 1 || c.Trail.Waiting[0].Key != key("waits") || c.Trail.Waiting[0].Promise != 0.7 {
		t.Errorf("waiting: got %+v", c.Trail.Waiting)
	}
	if c.Trail.Redirects[key("moved")] != key("target") || len(c.Trail.Redirects) != 1 {
		t.Errorf("redirects: got %v", c.Trail.Redirects)
	}

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := load(t, s).loadTrail(ctx, s); err == nil {
		t.Error("a cancelled load gave no error")
	}
}

func TestThinning(t *testing.T) {
	for _, tt := range []struct{ n, most, want uint64 }{{0, 10, 1}, {10, 10, 1}, {11, 10, 2}, {21, 10, 2}, {22, 10, 4}, {1 << 24, 1 << 21, 8}} {
		if got := thinning(tt.n, tt.most); got != tt.want {
			t.Errorf("thinning(%d, %d): got %d, want %d", tt.n, tt.most, got, tt.want)
		}
	}
}
