package urlfrontier

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"fossick/crawler/plan"
	"fossick/crawler/urlfrontier/api"
	"fossick/internal/testkit"
	"fossick/models"
	"fossick/relevance"
)

func learning(t testing.TB) *topicScorer {
	t.Helper()
	topic := testkit.Call(models.BuiltinTopic("banking")).Must(t)
	labeller := testkit.Call(plan.NewLabeller(topic)).Must(t)
	return scorerOf(t, "learned", plan.Input{Labeller: labeller})
}

func scorerOf(t testing.TB, name string, in plan.Input) *topicScorer {
	t.Helper()
	p := testkit.Call(plan.Named(name)).Must(t)
	s := testkit.Call(p.Scorer(in)).Must(t)
	return NewScorer(s)
}

// info returns a URL with metadata, keys and values in turn.
func info(url string, meta ...string) *api.URLInfo {
	m := map[string]*api.StringList{}
	for i := 0; i < len(meta); i += 2 {
		m[meta[i]] = &api.StringList{Values: append(m[meta[i]].GetValues(), meta[i+1])}
	}
	return &api.URLInfo{Url: url, Metadata: m}
}

const from = "http://a.test/start"

func TestFound(t *testing.T) {
	s := learning(t)
	if score, key := s.Found(info("http://a.test/")); score != ofStart || key != 0 {
		t.Errorf("a start page: %v, key %d", score, key)
	}
	for given, want := range map[string]float64{"0.25": .25, "-3": -3, "120.5": 120.5} {
		if score, key := s.Found(info("http://a.test/b", scoreKey, given, pathKey, from)); score != want || key != 0 {
			t.Errorf("a score of the client's own, %s: %v, key %d", given, score, key)
		}
	}
	for _, none := range []string{"NaN", "+Inf", "1e999", "much"} {
		if score, key := s.Found(info("http://a.test/b", scoreKey, none, pathKey, from)); !(score >= 0 && score <= 1) || key == 0 {
			t.Errorf("%s, which is no number: %v, key %d", none, score, key)
		}
	}
	if score, _ := s.Found(info("mailto:a@b.test", pathKey, from)); score != 0 {
		t.Errorf("no page of the web: %v", score)
	}
	if score, _ := s.Found(info(from, pathKey, from)); !(score >= 0 && score <= 1) {
		t.Errorf("a link to itself: %v", score)
	}
	on, _ := s.Found(info("http://b.test/1", pathKey, from, anchorKey, "mortgage loans and interest rates", parentScoreKey, "0.9"))
	off, _ := s.Found(info("http://b.test/2", pathKey, from, anchorKey, "football results of the week", parentScoreKey, "0.9"))
	alone, _ := s.Found(info("http://c.test/3", anchorKey, "mortgage loans and interest rates"))
	if !(on > off && alone > 0 && alone < 1) {
		t.Errorf("links: %.3f on topic, %.3f off, %.3f of an unknown page", on, off, alone)
	}
}

// TestLearns: pages put back change the priorities of waiting URLs, and their text is not kept.
func TestLearns(t *testing.T) {
	for what, text := range map[string][]string{
		"text":     {pageTextKey, strings.Repeat("The bank lends at a rate of interest; loans, mortgages and savings accounts. ", 5), pageTitleKey, "Bank loans"},
		"html":     {pageHTMLKey, "<title>Bank loans</title><p>" + strings.Repeat("The bank lends at a rate of interest; loans, mortgages and savings accounts. ", 5) + `<a href="/x">more</a>`},
		"relevant": {relevantKey, "yes"},
	} {
		t.Run(what, func(t *testing.T) {
			s := learning(t)
			s.Found(info(from))
			_, key := s.Found(info("http://b.test/deposits", pathKey, from, anchorKey, "term deposits"))
			before, known := s.Rescore(key)
			if !known {
				t.Fatal("the waiting URL is unknown")
			}
			for i := range 5 {
				url := fmt.Sprintf("http://b.test/page%d", i)
				s.Found(info(url, pathKey, from, anchorKey, "accounts"))
				in := info(url, append([]string{pathKey, from, "depth", "1"}, text...)...)
				score, judged, learned := s.Known(in)
				if !judged || !learned || score < 0.05 {
					t.Fatalf("page %d: %v, judged %v, learned %v", i, score, judged, learned)
				}
				if len(in.GetMetadata()[pageTextKey].GetValues())+len(in.GetMetadata()[pageHTMLKey].GetValues()) > 0 || whole(in, "depth") != "1" {
					t.Errorf("kept: %v", in.GetMetadata())
				}
			}
			after, _ := s.Rescore(key)
			t.Logf("before %.3f, after %.3f", before, after)
			if what != "relevant" && after == before {
				t.Errorf("nothing was learned: %v", after)
			}
			if score, judged, learned := s.Known(info("http://b.test/silent")); score != 0 || judged || learned {
				t.Errorf("a page of which nothing is said: %v %v %v", score, judged, learned)
			}
		})
	}
}

// TestKeywords: without a model, the words of K on the linking page decide, or those of the link
// if the page is unknown.
func TestKeywords(t *testing.T) {
	k := testkit.Call(relevance.NewKeywords([]string{"honey", "hive", "queen"})).Must(t)
	s := scorerOf(t, "paper", plan.Input{Keywords: k, Rho: plan.DefaultRho, Threshold: plan.DefaultThreshold})
	good, _ := s.Found(info("http://a.test/1", pathKey, from, anchorKey, "the queen of the hive"))
	bad, _ := s.Found(info("http://a.test/2", pathKey, from, anchorKey, "a wasp"))
	if !(good > bad) {
		t.Errorf("by the link's words: %v and %v", good, bad)
	}
	s.Known(info(from, pageTextKey, "Honey from the hive of the queen."))
	if of, _ := s.Found(info("http://a.test/3", pathKey, from, anchorKey, "a wasp")); !(of > good) {
		t.Errorf("of a page on topic: %v, want more than %v", of, good)
	}
	if _, known := s.Rescore(1); known {
		t.Error("paper's R does not change")
	}
}

func FuzzFound(f *testing.F) {
	f.Add("http://a.test/", from, "anchor", "0.5", "yes")
	f.Add("::", "/", "\x00", "NaN", "no")
	k := testkit.Call(relevance.NewKeywords([]string{"honey"})).Must(f)
	s := scorerOf(f, "paper", plan.Input{Keywords: k, Rho: 0.3})
	f.Fuzz(func(t *testing.T, url, path, anchor, score, relevant string) {
		in := info(url, pathKey, path, anchorKey, anchor, scoreKey, score, parentScoreKey, score, relevantKey, relevant, pageHTMLKey, anchor)
		if x, _ := s.Found(in); math.IsNaN(x) || math.IsInf(x, 0) { // a client may give any finite number
			t.Errorf("priority %v", x)
		}
		if x, _, _ := s.Known(in); !(x >= 0 && x <= 1) {
			t.Errorf("score %v", x)
		}
	})
}

// BenchmarkFound scores a link with text, on a known page, to a new URL.
func BenchmarkFound(b *testing.B) {
	s := learning(b)
	s.Known(info(from, pageTextKey, "The bank lends at a rate of interest."))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		s.Found(info(fmt.Sprintf("http://b%d.test/pages/%d.html", n%200, n), pathKey, from, anchorKey, "mortgage loans"))
	}
}
