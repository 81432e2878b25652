package crawler

import (
	"fmt"
	"strings"
	"testing"
)

// More start pages than fit into one batch of the store are planted all the same,
// in their order, and none twice when the crawl is taken up again.
func TestManySeeds(t *testing.T) {
	t.Parallel()
	const n = 20_000 // Badger's batches end at 46,000 entries, three a URL
	seeds := make([]string, n)
	for i := range seeds {
		seeds[i] = fmt.Sprintf("http://h%d.test/", i)
	}
	opt := newOptions(t, &fakeWeb{}, seeds...)
	for range 2 {
		c, err := New(opt)
		if err != nil {
			t.Fatal(err)
		}
		if c.totals.URLs() != n || c.leases.frontier.Len() != n {
			t.Errorf("%d URLs known, %d wait; want %d", c.totals.URLs(), c.leases.frontier.Len(), n)
		}
		if err := c.leases.frontier.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if l := life(t, opt.Store, seeds[n-1]); l.ID != n || l.Queued == nil {
		t.Errorf("the last start page is %+v, want number %d, waiting", l, n)
	}
}

// A start page that the crawl began with may be out of a narrower scope later.
func TestSeedOutOfNarrowerScope(t *testing.T) {
	opt := newOptions(t, &fakeWeb{pages: map[string]string{"http://a.test/": html("gold")}}, "http://a.test/")
	crawl(t, opt)
	opt.Scope.TLD = []string{"example"}
	c, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.leases.frontier.Close(); err != nil {
		t.Fatal(err)
	}
}

// A start page out of scope is an error that leaves nothing behind.
func TestSeedOutOfScope(t *testing.T) {
	opt := newOptions(t, &fakeWeb{}, "http://a.test/", "http://b.example/")
	opt.Scope.TLD = []string{"test"}
	if _, err := New(opt); err == nil || !strings.Contains(err.Error(), "http://b.example/") {
		t.Fatalf("error %v, want one that names the page", err)
	}
	if n, err := opt.Store.Counts(); err != nil || n.URLs != 0 {
		t.Errorf("%d URLs are in the store, %v; want none", n.URLs, err)
	}
}
