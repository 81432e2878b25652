package eval

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fossick/internal/page"
	"fossick/internal/testkit"
)

func TestLogOddsRatio(t *testing.T) {
	// 8 of 10 pages against 2 of 10: a = 10·10/20 = 5, so ln(13/7) − ln(7/13) =
	// 1.23808 over √(2/13 + 2/7) = 0.66299.
	checkNear(t, "z", logOddsRatio(8, 10, 2, 10), 1.86744)
	checkNear(t, "turned round", logOddsRatio(2, 10, 8, 10), -1.86744)
	checkNear(t, "alike", logOddsRatio(3, 10, 6, 20), 0)
	checkNear(t, "on every page", logOddsRatio(10, 10, 20, 20), 0)
	checkNear(t, "on none", logOddsRatio(0, 10, 0, 20), 0)
}

// drifting moves from galaxies on one host to markets on others; every other page is relevant.
func drifting(n int) []fakePage {
	all := make([]fakePage, n)
	for i := range all {
		f := &all[i]
		f.relevant = i%2 == 0
		f.url, f.body = fmt.Sprintf("http://stars.example/%d", i), "<p>galaxy common orbit"
		if i >= n/2 {
			f.url, f.body = fmt.Sprintf("http://h%d.example/%d", i%5, i), "<p>market common price"
		}
		if !f.relevant {
			f.body = "<p>noise market galaxy"
		}
	}
	return all
}

func words(p *page.Page) []string { return strings.Fields(p.Fields().Text) }

// TestContrast: "gold" is on 18 of a block's 20 pages and on 3 of the other 30, "dust" on 1 and
// 27, "sand" on 0 and 29. "stone", on half of both, shows no contrast.
func TestContrast(t *testing.T) {
	blocks := []wordCounts{
		{20, map[string]int{"gold": 18, "dust": 1, "stone": 10}},
		{10, map[string]int{"gold": 3, "dust": 9, "sand": 9, "stone": 5}},
		{20, map[string]int{"dust": 18, "sand": 20, "stone": 10}},
	}
	rising, falling := contrast(blocks, 0)
	if len(rising) != 1 || rising[0].Word != "gold" || rising[0].Share != 0.9 || rising[0].Rest != 0.1 {
		t.Errorf("rising %+v", rising)
	}
	if len(falling) != 2 || falling[0].Word != "sand" || falling[1].Word != "dust" || falling[1].Share != 0.05 || falling[1].Rest != 0.9 {
		t.Errorf("falling %+v, want the clearest first", falling)
	}
	if falling[0].Z != logOddsRatio(0, 20, 29, 30) {
		t.Errorf("z %v", falling[0].Z)
	}
}

func TestDrift(t *testing.T) {
	s := fill(t, filepath.Join(t.TempDir(), "s"), "banking", drifting(200))
	defer closed(t, s)
	c := load(t, s)
	testkit.Must(t, c.drift(context.Background(), s, words))
	if len(c.Blocks) != maxBlocks {
		t.Fatalf("%d blocks, want %d", len(c.Blocks), maxBlocks)
	}
	names := func(words []driftWord) string {
		var out []string
		for _, w := range words {
			out = append(out, w.Word)
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	first, last := c.Blocks[0], c.Blocks[4]
	for _, tt := range []struct{ what, got, want string }{
		{"first, rising", names(first.Rising), "galaxy orbit"}, {"first, falling", names(first.Falling), "market price"},
		{"last, rising", names(last.Rising), "market price"}, {"last, falling", names(last.Falling), "galaxy orbit"},
		{"first", fmt.Sprint(first.From, first.To, first.Relevant, *first.Harvest, first.Hosts, first.NewHosts, first.Top), "1 40 20 0.5 1 1 [{stars.example 20}]"},
		{"last", fmt.Sprint(last.From, last.To, last.Relevant, last.Hosts, last.NewHosts, last.Top), "161 200 20 5 0 [{h0.example 4} {h1.example 4} {h2.example 4}]"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.what, tt.got, tt.want)
		}
	}
	r := measureAll([]*judgedCrawl{c}, 0)
	var html bytes.Buffer
	testkit.Must(t, writeReport(&html, reportData{Result: r, Crawls: []*judgedCrawl{c}}))
	said := strings.Join(Sentences(r), " ")
	for where, text := range map[string]string{"report": html.String(), "sentences": said} {
		for _, want := range []string{"galaxy", "market"} {
			if !strings.Contains(text, want) {
				t.Errorf("the %s do not say %q", where, want)
			}
		}
	}
}

func TestDriftOfLittle(t *testing.T) {
	for _, n := range []int{0, 1, 25} {
		s := fill(t, filepath.Join(t.TempDir(), "s"), "banking", drifting(n))
		c := load(t, s)
		testkit.Must(t, c.drift(context.Background(), s, words))
		if len(c.Blocks) != 1 || len(c.Blocks[0].Rising) > 0 || driftRows(c.Blocks) != nil {
			t.Errorf("%d pages: got %+v, want one block that is compared with nothing", n, c.Blocks)
		}
		if said := strings.Join(Sentences(measureAll([]*judgedCrawl{c}, 0)), " "); strings.Contains(said, "Of its first") {
			t.Errorf("%d pages: %s", n, said)
		}
		closed(t, s)
	}
}

func TestReach(t *testing.T) {
	var pages []judgedPage
	for i := range 30 { // 20 pages of one host, every other relevant, then 10 hosts with one relevant page each
		p := judgedPage{URL: fmt.Sprintf("http://big.example/%d", i)}
		p.Relevant = i%2 == 0
		if i >= 20 {
			p.URL, p.Relevant = fmt.Sprintf("http://h%d.example/", i), true
		}
		pages = append(pages, p)
	}
	reach := func(pages []judgedPage, caps ...int) Reach {
		c := judgedCrawl{Pages: pages}
		return ReachOf(c.URLs(), c.relevant(), caps)
	}
	r := reach(pages)
	if r.Hosts != 11 || r.Relevant != 11 || *r.Largest != 0.5 || len(r.Capped) != 2 {
		t.Fatalf("got %+v", r)
	}
	for i, want := range []cappedHarvest{{Cap: 1, Pages: 11, Relevant: 11}, {Cap: 10, Pages: 20, Relevant: 15}} {
		got := r.Capped[i]
		if got.Cap != want.Cap || got.Pages != want.Pages || got.Relevant != want.Relevant || *got.Harvest != float64(want.Relevant)/float64(want.Pages) {
			t.Errorf("cap %d: got %+v (%v), want %+v", want.Cap, got, *got.Harvest, want)
		}
	}
	// H = ⅔ ln(3/2) + ⅓ ln 30 and ½ ln 2 + ½ ln 20; 11 hosts are 11 sites.
	if all, on := math.Pow(1.5, 2./3)*math.Pow(30, 1./3), math.Sqrt(2*20); !(math.Abs(*r.Effective-all) <= 1e-9) || !(math.Abs(*r.EffectiveRelevant-on) <= 1e-9) || r.Sites != 11 || r.RelevantSites != 11 {
		t.Errorf("effective %g and %g of %d and %d sites, want %g and %g of 11 and 11", *r.Effective, *r.EffectiveRelevant, r.Sites, r.RelevantSites, all, on)
	}
	if r := reach(pages, 3, 50); len(r.Capped) != 2 || r.Capped[0].Pages != 13 || r.Capped[0].Relevant != 12 || r.Capped[1].Pages != 30 {
		t.Errorf("caps 3 and 50: %+v", r.Capped)
	}
	if r := reach([]judgedPage{{URL: "http://a.x.example/"}, {URL: "http://b.x.example/"}}); r.Hosts != 2 || r.Sites != 1 || r.EffectiveRelevant != nil || !(math.Abs(*r.Effective-2) <= 1e-9) {
		t.Errorf("two hosts of a site: %+v", r)
	}
	if r := reach(nil); r.Effective != nil || r.Hosts != 0 || r.Largest != nil || r.Capped != nil {
		t.Errorf("no page: got %+v", r)
	}
}
