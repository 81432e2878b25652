package eval

import (
	"bytes"
	"context"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnjudged: only a truth or an independent model measures a refined cluster.
func TestUnjudged(t *testing.T) {
	s := fill(t, filepath.Join(t.TempDir(), "s"), "banking", synthetic(rand.New(rand.NewPCG(1, 5)), 300))
	defer closed(t, s)
	opt := RefineOptions{Topic: "banking", Model: "m1", Threshold: 0.5, Workers: 3, Classify: moneyWords, Explain: mortgages}
	if _, err := Refine(context.Background(), s, opt); err != nil {
		t.Fatal(err)
	}
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
		r := reportData{Result: Measure([]*Crawl{c}, 0), Crawls: []*Crawl{c}}
		if k := r.Kept; (k.Precision != nil) != tt.judged || (k.Recall != nil) != tt.judged || (k.F1 != nil) != tt.judged || (r.HarvestAfter != nil) != tt.judged || k.Pages == 0 {
			t.Errorf("%s: %+v, harvest after %v", tt.name, k, r.HarvestAfter)
		}
		if got := strings.Contains(strings.Join(Sentences(r.Result), " "), unjudged); got == tt.judged {
			t.Errorf("%s: %q", tt.name, Sentences(r.Result))
		}
		var page bytes.Buffer
		if err := writeReport(&page, r); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(page.String(), "recall among"); got != tt.judged {
			t.Errorf("%s: the page tells recall: %v", tt.name, got)
		}
	}
}
