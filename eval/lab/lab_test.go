package lab

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"fossick/crawler"
	"fossick/datasets"
	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/internal/stats"
	"fossick/internal/testkit"
)

// tinyWeb is a ring of 60 pages on three hosts with links to the next three pages and to a dead URL. Every
// fourth page is on topic; page 7 is a copy of page 6.
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
	opt := drawOptions{Topic: "gold", Train: 20, Starts: 3, Sets: 5}
	d, err := newDraw(c, opt, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	again, err := newDraw(c, opt, rand.New(rand.NewPCG(1, 1)))
	if err != nil || !reflect.DeepEqual(d, again) {
		t.Errorf("the same seed draws otherwise the second time (%v)", err)
	}
	trained := 0
	for _, yes := range d.Training {
		if yes {
			trained++
		}
	}
	if trained != 20 || d.Targets != 15 || len(d.Starts) != 5 {
		t.Errorf("%d training pages, %d targets, %d start sets; want 20, 15, 5", trained, d.Targets, len(d.Starts))
	}
	for _, set := range d.Starts {
		seen := map[int]bool{}
		for _, n := range set {
			if d.Training[n] || !d.Relevant[n] || seen[n] {
				t.Errorf("start page %d: trained on %v, on topic %v, repeated %v", n, d.Training[n], d.Relevant[n], seen[n])
			}
			seen[n] = true
		}
	}
	opt.Starts = 16
	if _, err := newDraw(c, opt, rand.New(rand.NewPCG(1, 1))); err == nil || !strings.Contains(err.Error(), "--starts") {
		t.Errorf("16 start pages of 15: error %v, want one that names --starts", err)
	}
}

func breadthFirst() crawlPolicy {
	return crawlPolicy{Name: "bfs", New: func(crawlRun) (crawler.Options, error) {
		o, err := orders.OrderingByName("bfs")
		return crawler.Options{Scorer: oracle{func(uint64) bool { return false }, false}, Ordering: o}, err
	}}
}

// TestManners: a polite crawl takes as long as its busiest host requires, and is reproducible.
func TestManners(t *testing.T) {
	c := tinyWeb(t)
	d, err := newDraw(c, drawOptions{Topic: "gold", Train: 10, Starts: 2, Sets: 3}, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	const rest, latency = time.Second, 100 * time.Millisecond
	x := experiment{
		Corpus: c, Draw: d, Pages: 12, Policies: []crawlPolicy{breadthFirst()},
		Manners: &politeManners{Workers: 4, Delay: crawler.Delay{Fixed: true, Rest: rest}, Latency: latency},
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
		// robots.txt comes first; the host rests after each exchange but the last.
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

// TestExperiment: no page twice, no copies or dead links; limits hold; the target oracle beats breadth first.
func TestExperiment(t *testing.T) {
	c := tinyWeb(t)
	d, err := newDraw(c, drawOptions{Topic: "gold", Train: 10, Starts: 2, Sets: 4}, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	x := experiment{Corpus: c, Draw: d, Pages: 12, Policies: []crawlPolicy{breadthFirst(), oraclePolicy("parent-oracle"), oraclePolicy("target-oracle")}}
	crawls, err := x.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := x.Run(t.Context(), func(*policyCrawl) {})
	if err != nil || !reflect.DeepEqual(crawls, again) {
		t.Errorf("the same crawls come out otherwise (%v)", err)
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
		harvest = append(harvest, measureCrawls(x.Policies[p], sets, d, 12, 4).Harvest.Value)
	}
	if harvest[2] <= harvest[0] {
		t.Errorf("harvest %v: who knows the targets is not ahead of breadth first", harvest)
	}
}

func TestMeasure(t *testing.T) {
	d := &startDraw{Targets: 4}
	crawls := []*policyCrawl{
		{URLs: []string{"http://a.x.test/", "http://a.x.test/b", "http://c.x.test/", "http://c.x.test/d"}, Relevant: []bool{true, false, true, false}, Training: []bool{false, false, true, true}},
		{URLs: []string{"http://a.x.test/", "http://a.x.test/b"}, Relevant: []bool{true, true}, Training: []bool{false, false}}, // frontier empty
	}
	f := measureCrawls(crawlPolicy{Name: "x"}, crawls, d, 4, 2)
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
	near("hosts", f.Spread.Hosts, 1.5)
	near("sites", f.Spread.Sites, 1)
	near("hosts with pages on topic", f.Spread.Relevant, 1.5)
	near("effective hosts", f.Spread.Effective, (2.+1)/2)
	near("harvest at most 1 a host", f.Spread.Capped[0].Harvest, 1)
	near("pages at most 1 a host", f.Spread.Capped[0].Pages, (2.+1)/2)
	near("harvest at most 10 a host", f.Spread.Capped[1].Harvest, f.Harvest.Value)
	if f.Harvest.CI != nil {
		t.Errorf("two crawls have an interval %v", *f.Harvest.CI)
	}
	if f.Short != 1 || len(f.Curve) != 2 || f.Curve[0].Value != 0.75 || f.Overlap[0].Share != 1 {
		t.Errorf("short %d, curve %v, overlap %v; want 1, two points from 0.75 on, all in common", f.Short, f.Curve, f.Overlap)
	}
}

func TestCompare(t *testing.T) {
	a := policyFigures{Policy: "a", Sets: []float64{0.5, 0.6, 0.7, 0.65, 0.55}}
	b := policyFigures{Policy: "b", Sets: []float64{0.4, 0.55, 0.6, 0.66, 0.5}}
	rng := rand.New(rand.NewPCG(1, 1))
	got := pairedTests([]policyFigures{a, b}, rng)[0]
	// The differences are 0.10, 0.05, 0.10, −0.01, 0.05: t = 2.8506 with 4 degrees of freedom, a closed form.
	x := 0.058 * math.Sqrt(5) / math.Sqrt(0.00828/4)
	cdf := 0.5 + 0.375*x/math.Sqrt(1+x*x/4)*(1-x*x/(12*(1+x*x/4)))
	if want := 2 * (1 - cdf); !(math.Abs(got.P-want) <= 1e-9) {
		t.Errorf("paired t-test: p = %v, want %v", got.P, want)
	}
	// 4 of 32 sign choices reach |sum| ≥ 0.29: all positive, the observed one, and their opposites.
	if got.Exact != 4./32 {
		t.Errorf("permutation test: p = %v, want 4/32", got.Exact)
	}
	if back := pairedTests([]policyFigures{b, a}, rng)[0]; !(math.Abs(back.P-got.P) <= 1e-12) || back.Exact != got.Exact || back.Difference != -got.Difference {
		t.Errorf("the other way round p = %v and %v, want %v and %v", back.P, back.Exact, got.P, got.Exact)
	}
	// 17 sets use drawn signs; twelve zeros change no sum, so P stays 4/32.
	if p := permutation(append([]float64{0.1, 0.05, 0.1, -0.01, 0.05}, make([]float64, 12)...), rng); !(math.Abs(p-4./32) <= 0.004) {
		t.Errorf("permutation test by drawn signs: p = %v, want 4/32", p)
	}
	if same := pairedTests([]policyFigures{a, a}, rng)[0]; same.P != 1 || same.Exact != 1 {
		t.Errorf("a policy against itself: p = %v and %v, want 1", same.P, same.Exact)
	}
	// Holm 1979: 0.01, 0.04, 0.03 become 0.03, 0.06, 0.06.
	tests := []pairedTest{{P: 0.01}, {P: 0.04}, {P: 0.03}}
	holm(tests)
	for i, want := range []float64{0.03, 0.06, 0.06} {
		if !(math.Abs(tests[i].Adjusted-want) <= 1e-12) {
			t.Errorf("Holm: %v of %v, want %v", tests[i].Adjusted, tests[i].P, want)
		}
	}
}

func TestReportEscapes(t *testing.T) {
	f := policyFigures{Policy: "<b>x", Harvest: stats.Mean{Value: 0.5}, Curve: []curvePoint{{1, stats.Mean{Value: 1}}, {2, stats.Mean{Value: 0.5}}}}
	var out bytes.Buffer
	if err := (&labResult{Corpus: "c", Topic: "<i>", Pages: 2, StartSets: 1, figures: []policyFigures{f}}).writeReport(&out, nil, nil); err != nil {
		t.Fatal(err)
	}
	if s := out.String(); strings.Contains(s, "<b>x") || strings.Contains(s, "<i>") && !strings.Contains(s, "&lt;i&gt;") || !strings.Contains(s, "application/json") {
		t.Error("the page has foreign markup, or no plot")
	}
}

func corpusOf(n int) *Corpus {
	c := &Corpus{Name: "few"}
	for i := range 2 * n {
		row := &corpusRow{URL: fmt.Sprintf("http://a.test/%d", i), Page: &page.Page{}}
		row.Labels = datasets.Labels{Label: []string{"x", "y"}[i/n]}
		c.Rows = append(c.Rows, row)
	}
	return c
}

func TestDistinctSets(t *testing.T) {
	for _, tc := range []struct{ pages, starts, asked, want int }{
		{3, 3, 10, 1}, {3, 2, 10, 3}, {4, 3, 10, 4}, {5, 4, 10, 5}, {40, 10, 10, 10}, {10, 1, 10, 10}, {1, 1, 10, 1},
	} {
		d, err := newDraw(corpusOf(tc.pages), drawOptions{Topic: "x", Starts: tc.starts, Sets: tc.asked}, rand.New(rand.NewPCG(1, 2)))
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, set := range d.Starts {
			seen[fmt.Sprint(slices.Sorted(slices.Values(set)))] = true
		}
		if len(d.Starts) != tc.want || len(seen) != tc.want {
			t.Errorf("%d of %d pages: %d sets, %d different, want %d", tc.starts, tc.pages, len(d.Starts), len(seen), tc.want)
		}
	}
}

// TestFewSets: below five start sets there is no interval and no test, and the result says why.
func TestFewSets(t *testing.T) {
	for sets := 1; sets <= 6; sets++ {
		a, b := policyFigures{Policy: "a"}, policyFigures{Policy: "b"}
		for i := range sets {
			a.Sets, b.Sets = append(a.Sets, 0.5+float64(i)/100), append(b.Sets, 0.1+float64(i)/90)
		}
		tests := pairedTests([]policyFigures{a, b}, rand.New(rand.NewPCG(1, 2)))
		if want := sets >= 5; (len(tests) == 1) != want || want && tests[0].CI == nil {
			t.Errorf("%d sets: %+v", sets, tests)
		}
		if why := whyNoTests(sets, 6); (why == "") != (sets == 6) || strings.Contains(why, "No intervals") != (sets < 5) {
			t.Errorf("%d sets: %q", sets, why)
		}
	}
}

// TestLeadWithoutTests: a report without tests makes no claim about chance.
func TestLeadWithoutTests(t *testing.T) {
	race := []policyFigures{{Policy: "a", Harvest: stats.Mean{Value: 0.5}}, {Policy: "b", Harvest: stats.Mean{Value: 0.4}}}
	said := strings.Join((&labResult{Pages: 10, StartSets: 1, NoTests: whyNoTests(1, 10)}).sentences(race), "\n")
	if strings.Contains(said, "chance between") || !strings.Contains(said, "No intervals and no tests") {
		t.Errorf("%s", said)
	}
}

// TestBaseline: the first sentence names breadth first or random pages.
func TestBaseline(t *testing.T) {
	of := func(policies ...string) []policyFigures {
		var race []policyFigures
		for i, name := range policies {
			f := policyFigures{Policy: name}
			f.Harvest.Value = .9 - .1*float64(i)
			race = append(race, f)
		}
		return race
	}
	r := &labResult{Pages: 10, StartSets: 5, CorpusPages: 50, Targets: 5}
	for _, tc := range []struct {
		race []policyFigures
		want string
	}{
		{of("x"), "x has 90 % on topic, on average over 5 crawls; pages at random would have 10 %."},
		{of("x", "bfs"), "; next is bfs with 80 %."},
		{of("x", "y"), "; next is y with 80 %; pages at random would have 10 %."},
		{of("x", "y", "bfs"), "; next is y with 80 %; bfs, breadth first, has 70 %."},
	} {
		if got := r.sentences(tc.race)[0]; !strings.HasSuffix(got, tc.want) {
			t.Errorf("%q, want it to end %q", got, tc.want)
		}
	}
}

// TestEqualDraws: equal values have no interval, and no P is below what the number of sets allows.
func TestEqualDraws(t *testing.T) {
	for name, x := range map[string][]float64{"one": {0.4}, "five equal": {1, 1, 1, 1, 1}, "equal but for rounding": {0.1 + 0.2, 0.3, 0.3}} {
		if m := stats.MeanOf(x); m.CI != nil {
			t.Errorf("%s: interval %v, want none", name, *m.CI)
		}
	}
	for _, tc := range []struct {
		name string
		d    []float64
		want float64
	}{
		{"equal policies", []float64{0, 0, 0, 0, 0}, 1},
		{"the same lead five times", []float64{0.2, 0.2, 0.2, 0.2, 0.2}, 2.0 / 32},
		{"five times behind by as much", []float64{-0.2, -0.2, -0.2, -0.2, -0.2}, 2.0 / 32},
	} {
		if p := pairedT(tc.d); p != tc.want {
			t.Errorf("%s: P %v, want %v", tc.name, p, tc.want)
		}
	}
}

// TestBandsOfEqualDraws: a curve keeps its band when one point has no interval.
func TestBandsOfEqualDraws(t *testing.T) {
	l := line("x", []curvePoint{{10, stats.Mean{Value: 1}}, {20, stats.Mean{Value: 0.9, CI: &[2]float64{0.8, 1}}}})
	if len(l.Band) != 2 || l.Band[0] != [2]float64{1, 1} || l.Band[1] != [2]float64{0.8, 1} {
		t.Errorf("band %v", l.Band)
	}
	if l := line("x", []curvePoint{{10, stats.Mean{Value: 1}}}); l.Band != nil {
		t.Errorf("a band %v of nothing", l.Band)
	}
}

type evenScorer struct{}

func (evenScorer) ScorePage(*page.Page, float64) crawler.Score { return crawler.Score{Value: 1} }

func (evenScorer) ScoreLinks(dst []float64, p *page.Page, _ crawler.Score) []float64 {
	for range p.Links {
		dst = append(dst, 1)
	}
	return dst
}

// TestNoHonestHostIsAFarm crawls real webs with many hosts per site breadth first: no host may be taken for a
// link farm. A host's first pages decide that, so by default the test loads a dozen of each host.
func TestNoHonestHostIsAFarm(t *testing.T) {
	for _, name := range []string{"uci_ics", "debdocs", "wikispeedia"} {
		t.Run(name, func(t *testing.T) {
			dir := testkit.Corpus(t, name)
			if name != "uci_ics" {
				testkit.Only(t, "reads a corpus whole")
			}
			c, seeds := fewOfEachHost(t, dir, testkit.Rounds(12, math.MaxInt), testkit.Rounds(8000, math.MaxInt))
			order, err := orders.OrderingByName("bfs")
			if err != nil {
				t.Fatal(err)
			}
			r, err := crawler.Virtual(t.Context(), crawler.Options{Scorer: evenScorer{}, Ordering: order, Seeds: seeds}, c.Answer)
			if err != nil {
				t.Fatal(err)
			}
			if r.Farmed > 0 || len(r.Pages) < len(seeds)/4 {
				t.Errorf("%d URLs left aside as a farm's, with %d pages from %d hosts; want none", r.Farmed, len(r.Pages), len(seeds))
			}
			t.Logf("%d pages of %d hosts, %d duplicates, %d near", len(r.Pages), len(seeds), r.Duplicates, r.Near)
		})
	}
}

// fewOfEachHost loads up to most pages per host from a corpus's first rows, and one seed per host.
func fewOfEachHost(t *testing.T, dir string, most, rows int) (c *Corpus, seeds []string) {
	t.Helper()
	set, err := datasets.Open(dir, datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]int{}
	c, err = Load(t.Context(), datasets.FromSeq(dir, func(yield func(*datasets.Example, error) bool) {
		for e, err := range set.Examples() {
			if rows--; rows < 0 {
				return
			}
			if err == nil {
				host := page.Host(e.URL)
				if pages[host]++; pages[host] > most {
					continue
				}
			}
			if !yield(e, err) {
				return
			}
		}
	}, datasets.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, row := range c.Rows {
		u, err := page.Normalize(row.URL)
		if host := page.Host(u); err == nil && !seen[host] {
			seen[host] = true
			seeds = append(seeds, u)
		}
	}
	return c, seeds
}

func TestRhoRange(t *testing.T) {
	for text, want := range map[string][]float64{
		"0:0.9:0.3":     {0, 0.3, 0.6, 0.9},
		"0.1:0.3:0.1":   {0.1, 0.2, 0.3},
		"0.5:0.5:0.1":   {0.5},
		"0.95:0.99:0.5": {0.95},
	} {
		var r rhoRange
		if err := r.UnmarshalText([]byte(text)); err != nil || !slices.Equal(r.Values, want) {
			t.Errorf("%s: %v, %v; want %v", text, r.Values, err, want)
		}
	}
	for _, text := range []string{"", "0:0.9", "0:0.9:0", "0.5:0.1:0.1", "0:1:0.1", "-0.1:0.5:0.1", "a:b:c", "0:NaN:0.1", "0:0.9:0.001", "0:0.9:0.1:1"} {
		if err := new(rhoRange).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

// TestSweepPlot: a sweep is plotted even when some or all points have no interval.
func TestSweepPlot(t *testing.T) {
	ci := &[2]float64{0.1, 0.3}
	for name, points := range map[string][]rhoPoint{
		"all":  {{0, 0.2, ci}, {0.5, 0.2, ci}},
		"some": {{0, 0.2, nil}, {0.5, 0.2, ci}},
		"last": {{0, 0.2, ci}, {0.5, 0.2, nil}},
		"none": {{0, 0.2, nil}, {0.5, 0.2, nil}},
	} {
		if f, err := sweepPlot(points); err != nil || f == nil {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
}

// TestTimeCurves: all curves span the time of the longest crawl; an ended crawl keeps its last value.
func TestTimeCurves(t *testing.T) {
	s := time.Second
	short := &policyCrawl{URLs: make([]string, 2), Relevant: []bool{true, false}, At: []time.Duration{s, 2 * s}, Took: 2 * s}
	long := &policyCrawl{URLs: make([]string, 2), Relevant: []bool{true, true}, At: []time.Duration{s, 50 * s}, Took: 50 * s}
	curves := timeCurves([][]*policyCrawl{{short, long}, {long}})
	for _, c := range []struct {
		policy, step int
		want         timePoint
	}{
		{0, 0, timePoint{1, 1, 1}}, {0, 1, timePoint{2, 1.5, 1}}, {0, 48, timePoint{49, 1.5, 1}}, {0, 49, timePoint{50, 2, 1.5}},
		{1, 0, timePoint{1, 1, 1}}, {1, 49, timePoint{50, 2, 2}},
	} {
		if got := curves[c.policy][c.step]; got != c.want {
			t.Errorf("policy %d, point %d: %v, want %v", c.policy, c.step, got, c.want)
		}
	}
	if got := []time.Duration{long.took(1), long.took(2), long.took(9)}; !slices.Equal(got, []time.Duration{s, 50 * s, 50 * s}) {
		t.Errorf("took %v", got)
	}
}
