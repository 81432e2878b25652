package lab

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"fossick/crawler"
	"fossick/datasets"
	"fossick/graph/orders"
)

// tinyWeb is a ring of 60 pages on three hosts, every fourth on topic, each
// linking to the next three. Page 7 is a copy of page 6, and each has a dead
// link.
func tinyWeb(t *testing.T) *Corpus {
	t.Helper()
	url := func(i int) string { return fmt.Sprintf("http://h%d.test/p%d", i%3, i%60) }
	set := datasets.FromSeq("tiny", func(yield func(*datasets.Example, error) bool) {
		for i := range 60 {
			e := &datasets.Example{URL: url(i), Label: "other", File: "tiny", Line: i + 1}
			if i%4 == 0 {
				e.Label = "gold"
			}
			text := fmt.Sprintf("page number %s", strings.Repeat("x", i+1))
			links := []int{i + 1, i + 2, i + 3}
			if i == 7 {
				text, links = fmt.Sprintf("page number %s", strings.Repeat("x", 7)), []int{7, 8, 9}
			}
			e.HTML = "<p>" + text
			for _, k := range links {
				e.HTML += fmt.Sprintf(` <a href="%s">next</a>`, url(k))
			}
			e.HTML += ` <a href="http://h1.test/gone">gone</a>`
			if !yield(e, nil) {
				return
			}
		}
	}, datasets.Options{})
	c, err := Load(t.Context(), set)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDraw(t *testing.T) {
	c := tinyWeb(t)
	opt := DrawOptions{Topic: "gold", Train: 20, Models: 2, Starts: 3, Sets: 5}
	d, err := NewDraw(c, opt, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	again, err := NewDraw(c, opt, rand.New(rand.NewPCG(1, 1)))
	if err != nil || !reflect.DeepEqual(d, again) {
		t.Errorf("the same seed draws otherwise the second time (%v)", err)
	}
	trained := 0
	for _, yes := range d.Training[0] {
		if yes {
			trained++
		}
	}
	if trained != 20 || d.Targets != 15 || len(d.Starts) != 5 {
		t.Errorf("%d training pages, %d targets, %d start sets; want 20, 15, 5", trained, d.Targets, len(d.Starts))
	}
	for i, set := range d.Starts {
		training := d.Training[d.ModelOf(i)]
		seen := map[int]bool{}
		for _, n := range set {
			if training[n] || !d.Relevant[n] || seen[n] {
				t.Errorf("start page %d: trained on %v, on topic %v, repeated %v", n, training[n], d.Relevant[n], seen[n])
			}
			seen[n] = true
		}
	}
	opt.Starts = 16
	if _, err := NewDraw(c, opt, rand.New(rand.NewPCG(1, 1))); err == nil || !strings.Contains(err.Error(), "--starts") {
		t.Errorf("16 start pages of 15: error %v, want one that names --starts", err)
	}
}

// breadthFirst is a policy without a scorer of its own.
func breadthFirst() Policy {
	return Policy{Name: "bfs", New: func(Run) (crawler.Options, error) {
		o, err := orders.OrderingByName("bfs")
		return crawler.Options{Scorer: noScorer{}, Ordering: o}, err
	}}
}

// TestManners: a crawl among hosts that rest takes as long as the busiest of them needs, by
// its own clock, and is the same again.
func TestManners(t *testing.T) {
	c := tinyWeb(t)
	d, err := NewDraw(c, DrawOptions{Topic: "gold", Train: 10, Starts: 2, Sets: 3}, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	const rest, latency = time.Second, 100 * time.Millisecond
	x := Experiment{
		Corpus: c, Draw: d, Pages: 12, Policies: []Policy{breadthFirst()},
		Manners: &Manners{Workers: 4, Delay: crawler.Delay{Fixed: true, Rest: rest}, Latency: latency},
	}
	crawls, err := x.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, crawl := range crawls[0] {
		busiest := 0
		hosts := map[string]int{}
		for _, u := range crawl.URLs {
			host := strings.Split(u, "/")[2]
			hosts[host]++
			busiest = max(busiest, hosts[host])
		}
		// robots.txt first; after each exchange but the last the host rests.
		if least := time.Duration(busiest) * (rest + latency/2); crawl.Took < least {
			t.Errorf("%d pages of a host in %v, want %v at least", busiest, crawl.Took, least)
		}
	}
	again, err := x.Run(t.Context(), nil)
	if err != nil || !reflect.DeepEqual(crawls, again) {
		t.Errorf("the same crawls come out otherwise (%v)", err)
	}
	x.Manners = nil
	alone, err := x.Run(t.Context(), nil)
	if err != nil || alone[0][0].Took != 0 {
		t.Errorf("without manners a crawl took %v (%v)", alone[0][0].Took, err)
	}
}

// TestExperiment: pages come once, copies and dead links do not count, limits hold,
// any number of crawls at a time gives the same, and an oracle is ahead.
func TestExperiment(t *testing.T) {
	c := tinyWeb(t)
	d, err := NewDraw(c, DrawOptions{Topic: "gold", Train: 10, Starts: 2, Sets: 4}, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	x := Experiment{Corpus: c, Draw: d, Pages: 12, Policies: []Policy{breadthFirst(), ParentOracle(), TargetOracle()}, Workers: 4}
	crawls, err := x.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	x.Workers = 1
	again, err := x.Run(t.Context(), func(*Crawl) {})
	if err != nil || !reflect.DeepEqual(crawls, again) {
		t.Errorf("four crawls at a time give other results than one (%v)", err)
	}
	var harvest []float64
	for p, sets := range crawls {
		for _, crawl := range sets {
			seen := map[string]bool{}
			for _, u := range crawl.URLs {
				if seen[u] || strings.HasSuffix(u, "gone") || seen["http://h0.test/p6"] && u == "http://h1.test/p7" {
					t.Errorf("%s fetched %s", x.Policies[p].Name, u)
				}
				seen[u] = true
			}
			if len(crawl.URLs) != 12 {
				t.Errorf("%d pages, want 12", len(crawl.URLs))
			}
		}
		harvest = append(harvest, Measure(x.Policies[p], sets, d, 12, 4).Harvest.Value)
	}
	if harvest[2] <= harvest[0] {
		t.Errorf("harvest %v: who knows the targets is not ahead of breadth first", harvest)
	}
	reachable, err := x.Reachable(t.Context(), crawler.Scope{})
	if err != nil || reachable[0] != 15 { // the ring leads everywhere
		t.Errorf("%v pages on topic can be reached (%v), want 15 each", reachable, err)
	}
	if got, want := reachedRecall(crawls[0], reachable, 12).Value, Measure(x.Policies[0], crawls[0], d, 12, 4).Recall.Value; got != want {
		t.Errorf("recall of what can be reached is %v, want %v: all can", got, want)
	}
	x.Pages, x.MaxPerHost = 60, 5
	crawls, err = x.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(crawls[0][0].URLs); n != 15 || crawls[0][0].Stopped != crawler.StopEmpty {
		t.Errorf("%d pages of three hosts, at most 5 each (%s), want 15 until the frontier is empty", n, crawls[0][0].Stopped)
	}
}

// TestMeasure computes two crawls' figures by hand.
func TestMeasure(t *testing.T) {
	d := &Draw{Targets: 4}
	crawls := []*Crawl{
		{URLs: []string{"http://a.x.test/", "http://a.x.test/b", "http://c.x.test/", "http://c.x.test/d"}, Relevant: []bool{true, false, true, false}, Training: []bool{false, false, true, true}},
		{URLs: []string{"http://a.x.test/", "http://a.x.test/b"}, Relevant: []bool{true, true}, Training: []bool{false, false}}, // ran out
	}
	f := Measure(Policy{Name: "x"}, crawls, d, 4, 2)
	near := func(name string, got, want float64) {
		if !(math.Abs(got-want) <= 1e-12) {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	near("harvest", f.Harvest.Value, (0.5+1)/2)
	near("harvest without training pages", f.Fresh.Value, (0.5+1)/2)
	near("recall", f.Recall.Value, 0.5)
	near("area under harvest", f.HarvestArea.Value, ((1+0.5+2./3+0.5)/4+1)/2)
	near("area under recall", f.RecallArea.Value, ((0.25+0.25+0.5+0.5)/4+(0.25+0.5+0.5+0.5)/4)/2)
	near("hosts", f.Spread.Hosts.Value, 1.5)
	near("sites", f.Spread.Sites.Value, 1)
	near("hosts with pages on topic", f.Spread.Relevant.Value, 1.5)
	near("effective hosts", f.Spread.Effective.Value, (2.+1)/2)
	near("harvest at most 1 a host", f.Spread.Capped[0].Harvest.Value, 1)
	near("pages at most 1 a host", f.Spread.Capped[0].Pages.Value, (2.+1)/2)
	near("harvest at most 10 a host", f.Spread.Capped[1].Harvest.Value, f.Harvest.Value)
	if f.Harvest.CI != nil {
		t.Errorf("two crawls have an interval %v", *f.Harvest.CI)
	}
	if f.Short != 1 || len(f.Curve) != 2 || f.Curve[0].Value != 0.75 || f.Overlap[0].Share != 1 {
		t.Errorf("short %d, curve %v, overlap %v; want 1, two points from 0.75 on, all in common", f.Short, f.Curve, f.Overlap)
	}
}

func TestCompare(t *testing.T) {
	a := Figures{Policy: "a", Sets: []float64{0.5, 0.6, 0.7, 0.65, 0.55}}
	b := Figures{Policy: "b", Sets: []float64{0.4, 0.55, 0.6, 0.66, 0.5}}
	rng := rand.New(rand.NewPCG(1, 1))
	got := Compare([]Figures{a, b}, rng)[0]
	// The differences are 0.10, 0.05, 0.10, −0.01, 0.05, so t = 2.8506 with 4 degrees of
	// freedom, for which the distribution has a closed form.
	x := 0.058 * math.Sqrt(5) / math.Sqrt(0.00828/4)
	cdf := 0.5 + 0.375*x/math.Sqrt(1+x*x/4)*(1-x*x/(12*(1+x*x/4)))
	if want := 2 * (1 - cdf); !(math.Abs(got.P-want) <= 1e-9) {
		t.Errorf("paired t-test: p = %v, want %v", got.P, want)
	}
	// Of 32 choices of signs, those whose sum is 0.29 or more: none negative, or only
	// the one that is; and their opposites.
	if got.Exact != 4./32 {
		t.Errorf("permutation test: p = %v, want 4/32", got.Exact)
	}
	if back := Compare([]Figures{b, a}, rng)[0]; !(math.Abs(back.P-got.P) <= 1e-12) || back.Exact != got.Exact || back.Difference != -got.Difference {
		t.Errorf("the other way round p = %v and %v, want %v and %v", back.P, back.Exact, got.P, got.Exact)
	}
	// Of 17 sets signs are drawn; twelve that do not differ change no sum, so P is 4/32 again.
	if p := permutation(append([]float64{0.1, 0.05, 0.1, -0.01, 0.05}, make([]float64, 12)...), rng); !(math.Abs(p-4./32) <= 0.004) {
		t.Errorf("permutation test by drawn signs: p = %v, want 4/32", p)
	}
	if same := Compare([]Figures{a, a}, rng)[0]; same.P != 1 || same.Exact != 1 {
		t.Errorf("a policy against itself: p = %v and %v, want 1", same.P, same.Exact)
	}
	// Holm 1979: 0.01, 0.04, 0.03 of three become 0.03, 0.06, 0.06.
	tests := []Test{{P: 0.01}, {P: 0.04}, {P: 0.03}}
	holm(tests)
	for i, want := range []float64{0.03, 0.06, 0.06} {
		if !(math.Abs(tests[i].Adjusted-want) <= 1e-12) {
			t.Errorf("Holm: %v of %v, want %v", tests[i].Adjusted, tests[i].P, want)
		}
	}
}

func TestReportEscapes(t *testing.T) {
	f := Figures{Policy: "<b>x", Harvest: Mean{Value: 0.5}, Curve: []Point{{1, Mean{Value: 1}}, {2, Mean{Value: 0.5}}}}
	var out bytes.Buffer
	if err := WriteReport(&out, Report{Corpus: "c", Topic: "<i>", Pages: 2, Sets: 1, Policies: []Figures{f}}); err != nil {
		t.Fatal(err)
	}
	if s := out.String(); strings.Contains(s, "<b>x") || strings.Contains(s, "<i>") && !strings.Contains(s, "&lt;i&gt;") || !strings.Contains(s, "<svg") {
		t.Error("the page has foreign markup, or no plot")
	}
}
