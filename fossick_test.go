package fossick_test

import (
	"math"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"

	"fossick"
)

// wrong returns at most this many scores of links, each NaN.
type wrong int

func (wrong) ScorePage(*fossick.Page, float64) fossick.Score { return fossick.Score{Value: math.NaN()} }

func (n wrong) ScoreLinks(p *fossick.Page, _ fossick.Score) (scores []float64) {
	for range min(int(n), len(p.Links)) {
		scores = append(scores, math.NaN())
	}
	return scores
}

// TestWrongScorer: too few scores end a crawl with an error; NaN counts as 0.
func TestWrongScorer(t *testing.T) {
	site := web()
	defer site.Close()
	for n, want := range map[wrong]string{0: "ScoreLinks returned 0 scores for the 1 links of " + site.URL + "/hive", 1: ""} {
		r, err := fossick.Crawl(t.Context(), options(t, n, site.URL+"/hive"))
		if want == "" && (err != nil || r.Pages != 2) {
			t.Errorf("not numbers: %+v, %v; want 2 pages", r, err)
		} else if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d scores: %v; want %s", n, err, want)
		}
	}
}

// TestCrawlGoesOn: a second call continues with the existing store.
func TestCrawlGoesOn(t *testing.T) {
	site := web()
	defer site.Close()
	opt := options(t, bees{}, site.URL+"/")
	for _, pages := range []uint64{2, 4} {
		opt.MaxPages = pages
		if r, err := fossick.Crawl(t.Context(), opt); err != nil || r.Pages != pages || r.Stopped != "max_pages" {
			t.Errorf("to %d pages: %+v, %v", pages, r, err)
		}
	}
}

func options(t *testing.T, s fossick.Scorer, start string) fossick.Options {
	return fossick.Options{
		Scorer: s, Seeds: []string{start}, Store: filepath.Join(t.TempDir(), "crawl"), Workers: 1, Delay: -1,
		AllowNet: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Contact: "you@example.org",
	}
}
