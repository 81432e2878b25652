package eval

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"fossick/internal/report"
	"fossick/internal/stats"
	"fossick/internal/testkit"
	"fossick/store"
)

// hostile is a page title that attacks the report.
const hostile = `"><script>alert(1)</script><img src=x onerror=alert(1)>{{.}}`

func reportOf(t testing.TB, crawls ...[]fakePage) string {
	t.Helper()
	var loaded []*judgedCrawl
	for i, pages := range crawls {
		s := fill(t, filepath.Join(t.TempDir(), fmt.Sprintf("crawl-%c", 'a'+i)), "banking", pages)
		if len(pages) > 0 {
			testkit.Call(Refine(context.Background(), s, RefineOptions{Topic: "banking", Model: "m", Threshold: 0.5, Workers: 2, Classify: moneyWords})).Must(t)
		}
		c := load(t, s)
		closed(t, s)
		c.judgeByTruth(truthOf("banking", 400))
		loaded = append(loaded, c)
	}
	var out bytes.Buffer
	testkit.Must(t, writeReport(&out, reportData{Result: measureAll(loaded, 0), Crawls: loaded, Made: []report.Fact{{Name: "model", Value: hostile}}}))
	return out.String()
}

func TestReportEscapes(t *testing.T) {
	pages := synthetic(rand.New(rand.NewPCG(1, 10)), 30)
	pages[3].title = hostile
	pages[3].score = 2
	pages[4].url = `javascript:alert(1)//` + hostile
	pages[4].score = 3
	pages[5].url = `http://x.example/banking/"onmouseover="alert(1)`
	pages[5].score = 4
	pages[6].title = "\u202egnikrow" // would reverse the text after it
	pages[6].score = 5
	out := reportOf(t, pages)
	if !strings.Contains(out, "<bdi> gnikrow</bdi>") || strings.Contains(out, "\u202e") {
		t.Error("a title turns text round")
	}
	if !strings.Contains(out, "&lt;script&gt;alert(1)") {
		t.Error("the hostile title is not there; the test tests nothing")
	}
	tags, scripts := map[string]bool{}, 0
	z := html.NewTokenizer(strings.NewReader(out))
	for z.Next() != html.ErrorToken {
		tok := z.Token()
		if tok.Type != html.StartTagToken && tok.Type != html.SelfClosingTagToken {
			continue
		}
		tags[tok.Data] = true
		if tok.Data == "script" && (len(tok.Attr) != 1 || tok.Attr[0].Val != "application/json") {
			scripts++
		}
		for _, a := range tok.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "src" || strings.HasPrefix(strings.ToLower(a.Val), "javascript:") {
				t.Errorf("<%s %s=%q>", tok.Data, a.Key, a.Val)
			}
		}
	}
	if z.Err() != io.EOF {
		t.Error(z.Err())
	}
	if scripts > 1 { // that of package report; the policy lets no other run
		t.Errorf("%d scripts in the report", scripts)
	}
	for _, tag := range []string{"img", "iframe", "link", "object", "base"} {
		if tags[tag] {
			t.Errorf("a <%s> in the report", tag)
		}
	}
}

var outside = regexp.MustCompile(`(?i)@import|[^a-z.]url\([^#]|<link|<[^>]* src=|#0102|NaN|ZgotmplZ|%!`)

func TestReportIsSelfContained(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 11))
	all := synthetic(r, 90)
	for name, out := range map[string]string{
		"one crawl": reportOf(t, all), "two crawls": reportOf(t, all[:60], all[30:]),
		"one page": reportOf(t, all[:1]), "no pages": reportOf(t, nil),
	} {
		if m := outside.FindString(out); m != "" {
			t.Errorf("%s: %q in the report", name, m)
		}
		if n := strings.Count(out, "application/json"); (n == 0) != (name == "no pages") {
			t.Errorf("%s: %d plots", name, n)
		}
	}
}

func TestReportCuts(t *testing.T) {
	pages := synthetic(rand.New(rand.NewPCG(1, 12)), 5)
	for i := range pages {
		pages[i].title = strings.Repeat("ä long title ", 10_000)
	}
	if out := reportOf(t, pages); len(out) > 100_000 {
		t.Errorf("a report of five pages has %d bytes", len(out))
	}
}

func TestSentences(t *testing.T) {
	f := Figures{Store: "s", Relevance: byLabels, Target: "banking", Fetched: 60, Relevant: 41}
	f.Harvest = stats.Share(41, 60)
	ci := interval95(stats.Wilson(41, 60))
	f.HarvestCI = &ci
	got := Sentences(Result{Figures: f})[0]
	want := "Of 60 pages fetched, 41 are about banking (68 %, 95 % interval 56–79 %), by the truth."
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := Sentences(Result{Figures: Figures{Store: "s"}}); len(got) != 1 {
		t.Errorf("no pages: %v", got)
	}
}

// TestVerdict: the first sentence of a report states a baseline for the harvest.
func TestVerdict(t *testing.T) {
	half, tenth, third := .5, .1, .333
	one := Figures{Store: "a", Fetched: 10, Harvest: &half, Target: "bees"}
	for want, r := range map[string]Result{
		"50 % about bees; pages at random would have 10 %.":                                                           {Figures: func() Figures { f := one; f.Base = &tenth; return f }()},
		"50 % about bees; for a figure to compare with, give --truth, or a second store, such as one of --order bfs.": {Figures: one},
		"a: 50 % about bees; b has 33 %, c has –.":                                                                    {Figures: one, Versus: &comparedCrawls{}, Stores: []Figures{one, {Store: "b", Harvest: &third}, {Store: "c"}}},
	} {
		if got := verdict(r); len(got) != 1 || got[0] != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := verdict(Result{}); got != nil {
		t.Errorf("of no page: %q", got)
	}
	c := &judgedCrawl{Pages: make([]judgedPage, 1), Source: labelSource{Kind: byLabels, Targets: 3, Known: 12}}
	if f := measure(c, 1); f.Base == nil || *f.Base != .25 {
		t.Errorf("pages at random have %v, want 3 of 12", f.Base)
	}
}

// TestConfusionHasOneOrder: rows and columns share one order; classes without pages have neither.
func TestConfusionHasOneOrder(t *testing.T) {
	c := &judgedCrawl{Source: labelSource{Kind: byLabels}}
	add := func(n int, class, label string) {
		for range n {
			p := judgedPage{Refined: &store.Label{Label: label}}
			p.Known, p.Class = class != "", class
			c.Pages = append(c.Pages, p)
		}
	}
	add(5, "bank", "bank")
	add(9, "sport", "bank")
	add(1, "sport", "sport")
	add(3, "", "sport")
	add(2, "art", "craft")
	m := confuse(c).Matrix
	var rows []string
	for _, r := range m.Rows {
		rows = append(rows, r.Name)
	}
	if want := []string{"bank", "sport", "(unknown)", "art"}; !slices.Equal(rows, want) {
		t.Errorf("rows %v, want %v", rows, want)
	}
	if want := []string{"bank", "sport", "craft"}; !slices.Equal(m.Columns, want) {
		t.Errorf("columns %v, want %v", m.Columns, want)
	}
	if got := m.Rows[1].Cells; got[0].Pages != 9 || got[1].Pages != 1 || !got[1].Right {
		t.Errorf("row sport: %+v", got)
	}
}

// TestRanked gives on-topic pages the lowest ranks, then the highest.
func TestRanked(t *testing.T) {
	for _, first := range []bool{false, true} {
		pages := synthetic(rand.New(rand.NewPCG(1, 20)), 60)
		s := fill(t, filepath.Join(t.TempDir(), "ranked"), "banking", pages)
		plain := load(t, s)
		plain.judgeByTruth(truthOf("banking", 400))
		var ranks []store.NumberedRank
		all, held := 0.0, 0.0
		for i, p := range plain.Pages[:50] {
			x := 0.001 * float64(i+1) / 50
			if p.Relevant == first {
				x += 0.001
			}
			if all += x; p.Relevant {
				held += x
			}
			ranks = append(ranks, store.NumberedRank{Page: p.Number, Rank: store.Rank{Score: x}})
		}
		testkit.Must(t, s.Ranks().Put(t.Context(), store.Ranking{Method: "pagerank", Nodes: 1000}, func(yield func(store.NumberedRank) bool) {
			for _, r := range ranks {
				if !yield(r) {
					return
				}
			}
		}))
		c := load(t, s)
		closed(t, s)
		c.judgeByTruth(truthOf("banking", 400))
		r := measure(c, 0).Ranked
		want := map[bool]float64{false: 0, true: 1}[first]
		if r == nil || r.Pages != 50 || !(math.Abs(r.Share-held/all) <= 1e-12) || len(r.Top) != 2 || r.Top[0] != (Point{10, want}) {
			t.Errorf("first %v: got %+v, want a share of %g, %g of the first ten", first, r, held/all, want)
		}
		if plain := measure(plain, 0).Ranked; plain != nil {
			t.Errorf("before rank: %+v", plain)
		}
		var out bytes.Buffer
		testkit.Must(t, writeReport(&out, reportData{Result: measureAll([]*judgedCrawl{c}, 0), Crawls: []*judgedCrawl{c}}))
		if !strings.Contains(out.String(), "Highest PageRank") || !strings.Contains(out.String(), "that PageRank ranks highest") {
			t.Error("the report has no ranks")
		}
	}
}

// TestUnjudged: only a truth or an independent model measures a refined cluster.
func TestUnjudged(t *testing.T) {
	s := fill(t, filepath.Join(t.TempDir(), "s"), "banking", synthetic(rand.New(rand.NewPCG(1, 5)), 300))
	defer closed(t, s)
	opt := RefineOptions{Topic: "banking", Model: "m1", Threshold: 0.5, Workers: 3, Classify: moneyWords, Explain: mortgages}
	testkit.Call(Refine(context.Background(), s, opt)).Must(t)
	for _, tt := range []struct {
		name   string
		source labelSource
		judged bool
	}{
		{"the crawl's own labels", labelSource{Kind: byOwnLabels}, false},
		{"the model that crawled", labelSource{Kind: byModel, Own: "labelled the crawl"}, false},
		{"the model that refined", labelSource{Kind: byModel, Own: "refined the crawl"}, false},
		{"another model", labelSource{Kind: byModel}, true},
		{"a truth", labelSource{Kind: byLabels, Targets: 100}, true},
	} {
		c := load(t, s)
		c.judgeByTruth(truthOf("banking", 400))
		c.Source = tt.source
		r := reportData{Result: measureAll([]*judgedCrawl{c}, 0), Crawls: []*judgedCrawl{c}}
		if k := r.Kept; (k.Precision != nil) != tt.judged || (k.Recall != nil) != tt.judged || (k.F1 != nil) != tt.judged || (r.HarvestAfter != nil) != tt.judged || k.Pages == 0 {
			t.Errorf("%s: %+v, harvest after %v", tt.name, k, r.HarvestAfter)
		}
		if got := strings.Contains(strings.Join(Sentences(r.Result), " "), unjudged); got == tt.judged {
			t.Errorf("%s: %q", tt.name, Sentences(r.Result))
		}
		var page bytes.Buffer
		testkit.Must(t, writeReport(&page, r))
		if got := strings.Contains(page.String(), "recall among"); got != tt.judged {
			t.Errorf("%s: the page tells recall: %v", tt.name, got)
		}
	}
}

// TestVersus: a has 1 2 3 4, b has 3 4 5, on topic are 2 3 5 and a page that neither found.
func TestVersus(t *testing.T) {
	four := 4
	v := versus([]string{"a", "b"}, [][]string{{"1", "2", "3", "4"}, {"3", "4", "5"}}, [][]string{{"2", "3"}, {"3", "5"}}, &four)
	got := testkit.Call(json.Marshal(v)).Must(t)
	want := `{"union":5,"union_relevant":3,"common":2,"common_relevant":1,"topic_overlap":0.3333333333333333,"recall":0.75,"only":[{"store":"a","pages":2,"relevant":1},{"store":"b","pages":1,"relevant":1}]}`
	if string(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
	half, ci := 0.5, interval95{.1, .9}
	r := Result{Figures: Figures{Store: "a"}, Versus: v, Stores: []Figures{{Store: "a", Fetched: 4, Relevant: 2, Harvest: &half, HarvestCI: &ci, Recall: &half}, {Store: "b"}}}
	text := strings.Join(Sentences(r), "\n")
	for _, line := range []string{
		"a: 4 pages, 2 on topic (50 %, 95 % interval 10–90 %), 50 % of the truth found.\nb: no page fetched yet.\nTogether: 5 pages, 3 on topic, 75 % of the truth.\n",
		"Both have 2 pages, 1 on topic (33 % of the on-topic pages of either); only a has 2 pages, 1 on topic; only b has 1 page, 1 on topic.\nThe first crawl, a:\n",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("%s\nlacks %s", text, line)
		}
	}
}

func TestVersusOfThree(t *testing.T) {
	urls := [][]string{{"1", "2"}, {"2", "3"}, {"2", "4"}}
	r := Result{Versus: versus([]string{"a", "b", "c"}, urls, urls, nil), Stores: []Figures{{Store: "a"}, {Store: "b"}, {Store: "c"}}}
	want := "All have 1 page, 1 on topic (25 % of the on-topic pages of any); only a has 1 page, 1 on topic;"
	if text := strings.Join(Sentences(r), "\n"); !strings.Contains(text, want) {
		t.Errorf("%s\nlacks %s", text, want)
	}
}

// TestFewPages: below five pages there is no interval of the harvest, and no recall estimate.
func TestFewPages(t *testing.T) {
	for n := range 8 {
		ci := harvestCI(n, func(int) bool { return true })
		if (ci != nil) != (n >= 5) || strings.HasPrefix(ci.words(), "no interval: it needs 5") != (n < 5) {
			t.Errorf("%d pages: %v, %q", n, ci, ci.words())
		}
		var urls []string
		for i := range n {
			urls = append(urls, fmt.Sprintf("http://a/%d", i))
		}
		if e := estimateRecall([]*judgedCrawl{{}, {}}, [][]string{urls, urls}); (len(e) > 0) != (n >= 5) {
			t.Errorf("%d pages, found by two crawls: an estimate of %v", n, e)
		}
	}
}
