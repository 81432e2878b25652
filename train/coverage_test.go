package train_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"fossick/classify"
	"fossick/datasets"
	"fossick/internal/testkit"
	"fossick/models/features"
	"fossick/train"
)

// coverCase is a training whose intervals are compared with the result on many more pages.
type coverCase struct {
	name   string
	corpus string
	keep   func(*datasets.Example) bool // nil: all rows
	pages  int                          // per draw
	hosts  bool                         // use a page's host as its site
	sites  int                          // sites per draw, each with at most sitePages pages; 0: draw pages
	opt    train.Options
}

// sitePages is how many pages of a site a draw has at most.
const sitePages = 30

// told counts the intervals of a figure that hold the truth.
type told struct{ held, of int }

func (t *told) note(ci [2]float64, truth float64) {
	if t.of++; ci[0] <= truth && truth <= ci[1] {
		t.held++
	}
}

type coverage struct {
	accuracy, bins told
	points         [][]train.CurvePoint // by draw
}

// TestCoverage measures how often training's 95 % intervals hold the truth, over 100 draws of a corpus:
// docs/data/coverage.tsv. The truth is the model's result on all other pages, and for a learning curve
// the mean of the draws.
//
//	FOSSICK_FULL=1 FOSSICK_DRAWS=100 go test ./train -run 'TestCoverage$' -v -timeout 2h
//
// FOSSICK_CASE chooses cases by a part of their name. Only FOSSICK_DRAWS computes the learning curve, half of
// the time, and FOSSICK_NOCURVE=1 leaves it out: no check needs it.
func TestCoverage(t *testing.T) {
	testkit.Only(t, "trains hundreds of models")
	draws := 3
	fmt.Sscan(os.Getenv("FOSSICK_DRAWS"), &draws)
	newsgroups := []string{"rec.autos", "sci.med", "sci.space", "rec.sport.hockey"}
	four := func(e *datasets.Example) bool { return slices.Contains(newsgroups, e.Label) }
	people := train.Target{Labels: []string{"student", "faculty", "course", "project"}}
	for _, c := range []coverCase{
		{name: "20news, four classes, linear", corpus: "20news", keep: four, pages: 300, opt: train.Options{Classifier: "linear"}},
		{name: "20news, four classes, nb", corpus: "20news", keep: four, pages: 300, opt: train.Options{Classifier: "nb"}},
		{name: "20news, one topic, linear", corpus: "20news", keep: four, pages: 300, opt: train.Options{Classifier: "linear", Target: train.Target{Topic: "sci.med"}}},
		{name: "wikispeedia, fourteen classes, c45", corpus: "wikispeedia/train.jsonl.zst", pages: 400, opt: train.Options{Classifier: "c45"}},
		{name: "webkb, four classes, linear", corpus: "webkb", pages: 300, opt: train.Options{Classifier: "linear", Target: people}},
		{name: "debdocs, one topic, folds by site", corpus: "debdocs", sites: 15, opt: train.Options{Classifier: "linear", Target: train.Target{Topic: "programming"}, BySite: true}},
		{name: "webkb, four classes, nb, folds by site", corpus: "webkb", hosts: true, sites: 40, opt: train.Options{Classifier: "nb", Target: people, BySite: true}},
		{name: "webkb, four classes, folds by site", corpus: "webkb", hosts: true, sites: 40, opt: train.Options{Classifier: "linear", Target: people, BySite: true}},
	} {
		if only := os.Getenv("FOSSICK_CASE"); only != "" && !strings.Contains(c.name, only) {
			continue
		}
		var got coverage
		s := newCoverSet(t, &c)
		for draw := range draws {
			s.draw(t, draw, &got)
		}
		testkit.Coverage(t, c.name+": accuracy", got.accuracy.held, got.accuracy.of)
		t.Logf("%s: reliability's bins %d of %d, learning curve %v", c.name, got.bins.held, got.bins.of, got.curve())
	}
}

type coverSet struct {
	*coverCase
	all  []*datasets.Example
	docs []features.Doc
}

func newCoverSet(t *testing.T, c *coverCase) *coverSet {
	set := testkit.Call(datasets.Open(testkit.Corpus(t, c.corpus), datasets.Options{})).Must(t)
	s := &coverSet{coverCase: c}
	for e := range testkit.All(t, set.Examples()) {
		if c.keep != nil && !c.keep(e) || c.opt.Class(e) == "" {
			continue
		}
		if u, err := url.Parse(e.URL); c.hosts && err == nil {
			e.Site = u.Host
		}
		d := testkit.Call(train.Doc(e)).Must(t)
		s.all, s.docs = append(s.all, e), append(s.docs, d)
	}
	return s
}

func (s *coverSet) split(rng *rand.Rand) (in, out []int) {
	order := rng.Perm(len(s.all))
	if s.sites == 0 {
		return order[:s.pages], order[s.pages:]
	}
	var sites []string
	drawn := map[string][]int{}
	for _, i := range order {
		site := s.all[i].SiteOrURL()
		if drawn[site] == nil {
			sites = append(sites, site)
		}
		if len(drawn[site]) < sitePages {
			drawn[site] = append(drawn[site], i)
		}
	}
	slices.Sort(sites)
	rng.Shuffle(len(sites), func(a, b int) { sites[a], sites[b] = sites[b], sites[a] })
	for k, site := range sites {
		if k < s.sites {
			in = append(in, drawn[site]...)
		} else {
			out = append(out, drawn[site]...)
		}
	}
	return in, out
}

func (s *coverSet) draw(t *testing.T, draw int, got *coverage) {
	in, out := s.split(rand.New(rand.NewPCG(uint64(draw), 95)))
	opt := s.opt
	opt.Seed, opt.Explain = int64(draw), os.Getenv("FOSSICK_DRAWS") != "" && os.Getenv("FOSSICK_NOCURVE") == ""
	m, rep, err := train.Train(context.Background(), rows(s.all, in), opt)
	if err != nil {
		t.Logf("%s: %v", s.name, err) // a draw of sites may have one class
		return
	}
	c, err := classify.New(m)
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	var of, hits [10]float64
	for _, p := range out {
		r := c.Classify(s.docs[p])
		bin := min(9, int(10*r.Score))
		if of[bin]++; r.Label == opt.Class(s.all[p]) {
			right++
			hits[bin]++
		}
	}
	truth := float64(right) / float64(len(out))
	t.Logf("%s %d: %.3f [%.3f, %.3f], true %.3f, ece %.3f", s.name, draw, rep.CV.Accuracy, rep.CV.CI[0], rep.CV.CI[1], truth, rep.Calibrated.ECE)
	got.accuracy.note(rep.CV.CI, truth)
	for _, b := range rep.Calibrated.Bins {
		if k := int(10*b.From + 0.5); of[k] >= 100 {
			got.bins.note(b.CI, hits[k]/of[k])
		}
	}
	got.points = append(got.points, rep.Curve)
}

// curve counts, by point of the learning curve, the intervals that hold the draws' mean.
func (g *coverage) curve() []told {
	if len(g.points) == 0 {
		return nil
	}
	n := len(g.points[0])
	out := make([]told, n)
	for k := range n {
		mean := 0.0
		for _, p := range g.points {
			if len(p) == n {
				mean += p[k].Accuracy / float64(len(g.points))
			}
		}
		for _, p := range g.points {
			if len(p) == n {
				out[k].note(p[k].CI, mean)
			}
		}
	}
	return out
}

func rows(all []*datasets.Example, pages []int) iter.Seq2[*datasets.Example, error] {
	return func(yield func(*datasets.Example, error) bool) {
		for _, p := range pages {
			if !yield(all[p], nil) {
				return
			}
		}
	}
}
