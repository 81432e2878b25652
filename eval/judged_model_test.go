package eval

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fossick/internal/cli"
	"fossick/store"
)

// crawled makes a store of n pages whose first half the crawl labelled relevant.
func crawled(t *testing.T, n int) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "crawl")
	s, err := store.Create(dir, store.Info{Topic: "money"})
	if err != nil {
		t.Fatal(err)
	}
	b := s.Batch()
	for i := range n {
		url, number := fmt.Sprintf("http://h.example/%d", i), uint64(i+1)
		p := &store.Page{Number: number, ID: store.ID(number), URL: url, ContentType: "text/html", Checksum: []byte(url), Relevant: i < n/2}
		for _, err := range []error{
			b.PutDiscovery(p.ID, store.Discovery{URL: url, Via: store.ViaSeed}), b.PutSeen(store.HashURL(url), p.ID, false),
			b.PutPage(p, s.Compress([]byte("<p>A loan of a bank"))), b.PutOutcome(p.ID, store.Outcome{State: "ok", Page: number}),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(b.PutCounts(&store.Counts{Pages: uint64(n), States: map[string]uint64{"ok": uint64(n)}}), b.Commit(), s.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

func sources(stores ...string) Sources {
	return Sources{Stores: stores, Step: func(string) func() { return func() {} }, Open: func(dir string) (*store.Store, func() error, error) {
		s, err := store.OpenToRead(dir)
		if err != nil {
			return nil, nil, err
		}
		return s, s.Close, nil
	}}
}

// TestWhoseWordCounts: a truth overrides the own labels; the default target is the crawl's topic.
func TestWhoseWordCounts(t *testing.T) {
	dir := crawled(t, 8)
	truth := filepath.Join(t.TempDir(), "labels.tsv")
	if err := os.WriteFile(truth, []byte("http://h.example/0\tmoney\tmoney\nhttp://h.example/1\tstars\tstars\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	own, byTruth, ofStars := sources(dir), sources(dir), sources(dir)
	byTruth.Truth, ofStars.Truth, ofStars.Target = truth, truth, "stars"
	for name, c := range map[string]struct {
		from    Sources
		harvest float64
		unknown int
		made    string
	}{
		"own labels": {own, 0.5, 0, ""}, "truth": {byTruth, 0.125, 6, "labels.tsv, 2 pages"}, "truth of another": {ofStars, 0.125, 6, "labels.tsv, 2 pages"},
	} {
		crawls, err := ReadCrawls(t.Context(), c.from)
		if err != nil {
			t.Fatal(err)
		}
		r := crawls.Measure(0)
		if r.Harvest == nil || *r.Harvest != c.harvest || r.Unknown != nil && *r.Unknown != c.unknown || r.Settings["workers"] != "32" || r.Next != nil {
			t.Errorf("%s: %+v", name, r.Figures)
		}
		var report strings.Builder
		if err := crawls.WriteReport(&report, r); err != nil || !strings.Contains(report.String(), c.made) {
			t.Errorf("%s: %v, want %q in the report", name, err, c.made)
		}
	}
}

// TestMistakes: ReadCrawls reports wrong usage before it opens a store.
func TestMistakes(t *testing.T) {
	twice, caps := sources("a", "./a"), sources("a")
	caps.Caps = []int{10, 0}
	for want, from := range map[string]Sources{"is given twice": twice, "want a number of pages, at least 1": caps} {
		var mistake cli.UsageError
		if _, err := ReadCrawls(t.Context(), from); err == nil || !errors.As(err, &mistake) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want a mistake with %q", err, want)
		}
	}
}
