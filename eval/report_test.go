package eval

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"fossick/internal/report"
	"fossick/internal/stats"
)

// hostile is a page title that attacks the report.
const hostile = `"><script>alert(1)</script><img src=x onerror=alert(1)>{{.}}`

func reportOf(t testing.TB, crawls ...[]fakePage) string {
	t.Helper()
	var loaded []*Crawl
	for i, pages := range crawls {
		s := fill(t, filepath.Join(t.TempDir(), fmt.Sprintf("crawl-%c", 'a'+i)), "banking", pages)
		if len(pages) > 0 {
			if _, err := Refine(context.Background(), s, RefineOptions{Topic: "banking", Model: "m", Threshold: 0.5, Workers: 2, Classify: moneyWords}); err != nil {
				t.Fatal(err)
			}
		}
		c := load(t, s)
		closed(t, s)
		c.judgeByTruth(truthOf("banking", 400))
		loaded = append(loaded, c)
	}
	var out bytes.Buffer
	if err := writeReport(&out, reportData{Result: Measure(loaded, 0), Crawls: loaded, Made: []report.Fact{{Name: "model", Value: hostile}}}); err != nil {
		t.Fatal(err)
	}
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
	tags := map[string]bool{}
	z := html.NewTokenizer(strings.NewReader(out))
	for z.Next() != html.ErrorToken {
		tok := z.Token()
		if tok.Type != html.StartTagToken && tok.Type != html.SelfClosingTagToken {
			continue
		}
		tags[tok.Data] = true
		for _, a := range tok.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "src" || strings.HasPrefix(strings.ToLower(a.Val), "javascript:") {
				t.Errorf("<%s %s=%q>", tok.Data, a.Key, a.Val)
			}
		}
	}
	if z.Err() != io.EOF {
		t.Error(z.Err())
	}
	for _, tag := range []string{"script", "img", "iframe", "link", "object", "base"} {
		if tags[tag] {
			t.Errorf("a <%s> in the report", tag)
		}
	}
}

var outside = regexp.MustCompile(`(?i)@import|url\(|<link|<[^>]* src=|#0102|NaN|ZgotmplZ|%!`)

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
		if n := strings.Count(out, "<svg"); n != strings.Count(out, "</svg>") || (n == 0) != (name == "no pages") {
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
	f.Harvest = share(41, 60)
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
	c := &Crawl{Pages: make([]Page, 1), Source: labelSource{Kind: byLabels, Targets: 3, Known: 12}}
	if f := measure(c, 1); f.Base == nil || *f.Base != .25 {
		t.Errorf("pages at random have %v, want 3 of 12", f.Base)
	}
}
