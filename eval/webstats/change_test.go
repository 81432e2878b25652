package webstats

import (
	"bytes"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"fossick/internal/testkit"
	"fossick/store/change"
)

const day = msPerDay

func watchedStream(pages ...Watched) iter.Seq2[*Watched, error] {
	return func(yield func(*Watched, error) bool) {
		for i := range pages {
			if !yield(&pages[i], nil) {
				return
			}
		}
	}
}

func counted(t *testing.T, opt ChangeOptions, pages iter.Seq2[*Watched, error]) *Changes {
	t.Helper()
	r := testkit.Call(CountChanges(t.Context(), opt, pages)).Must(t)
	return r
}

// TestCountChanges checks a few pages over three rounds by hand.
func TestCountChanges(t *testing.T) {
	rounds := []Round{{10 * day, 11 * day}, {12 * day, 13 * day}, {14 * day, 15 * day}, {16 * day, 0}}
	at := func(days int64, state string, code int, kind change.Kind) change.Visit {
		return change.Visit{At: days * day, State: state, Code: code, Change: kind}
	}
	r := counted(t, ChangeOptions{Rounds: rounds}, watchedStream(
		Watched{URL: "http://a.co.kr/", Seed: true, Kind: "ha0", Visits: []change.Visit{ // changes twice in six days
			at(8, "ok", 200, 0), at(10, "ok", 200, change.Text), at(12, "not_modified", 304, 0), at(14, "ok", 200, change.Text)}},
		Watched{URL: "http://b.kr/x", Depth: 2, Kind: "000", Visits: []change.Visit{ // gone, then back with changed content only
			at(9, "ok", 200, 0), at(10, "code", 404, 0), at(12, "code", 404, 0), at(14, "ok", 200, change.Content)}},
		Watched{URL: "http://c.com/y", Depth: 2, Kind: "000", Visits: []change.Visit{ // moves
			at(9, "ok", 200, 0), at(10, "ok", 200, 0), at(12, "redirect", 301, 0), at(14, "redirect", 301, 0)}},
		Watched{URL: "http://c.com/new", Depth: 3, Kind: "000", Visits: []change.Visit{at(13, "ok", 200, 0), at(14, "ok", 200, 0)}},
		Watched{URL: "http://c.com/lost"},
	))
	for what, pair := range map[string][2]any{
		"pages":     {r.Pages, int64(4)},
		"visits":    {r.Visits, int64(3 + 3 + 3 + 1)}, // without the first of each
		"rounds":    {r.Rounds, 3},
		"S(n)":      {fmt.Sprint(r.Downloads), "[0 2 0 1]"},
		"of seeds":  {fmt.Sprint(r.SeedDownloads), "[0 0 0 1]"},
		"outcomes":  {fmt.Sprint(r.Gone, r.Moved, r.Back), "0 1 1"},
		"kr":        {fmt.Sprint(r.TLD[1].Name, r.TLD[1].Looks, r.TLD[1].Changes, r.TLD[1].ContentChanges, *r.TLD[1].ChangeInterval, *r.TLD[1].Naive), "kr4 2 3 3 5.5"},
		"co.kr":     {fmt.Sprint(r.Second[2].Name, *r.Second[2].ChangeInterval, *r.Second[2].Changed), "co.kr3 1"},
		"unchanged": {r.Kind[0].Name == "000" && r.Kind[0].ChangeInterval == nil && *r.Kind[0].Changed == 0, true},
		"seeds":     {fmt.Sprint(len(r.SeedTLD), r.SeedTLD[0].Name, *r.SeedTLD[0].ChangeInterval, len(r.SeedSecond), r.SeedSecond[0].Name), "1kr3 1co.kr"},
		"by round":  {fmt.Sprint(r.ByRound), "[{1 1 3 2} {1 1 4 2} {1 1 4 3}]"},
		"depths":    {fmt.Sprint(r.Depth[0].Name, r.Depth[1].Name, r.Depth[2].Name), "023"},
		"SS":        {*r.SS, 1. / 3}, // (1·(3−1)) / (3 pages · 2)
		"FF":        {*r.FF, 0.5},    // (2·(2−1)) / (2 pages · 2)
		"next SS":   {*r.NextSS, 2. / 3},
		"next FF":   {*r.NextFF, 2. / 3},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %v, want %v", what, pair[0], pair[1])
		}
	}
	if len(r.Tables()) != 8 || len(r.Sentences()) != 6 {
		t.Errorf("%d tables, %d sentences", len(r.Tables()), len(r.Sentences()))
	}
	if s := r.Sentences()[0]; !strings.HasPrefix(s, "Pages that changed did so every ") || !strings.Contains(s, "Korea") {
		t.Errorf("the first sentence compares nothing: %s", s)
	}
}

// TestChangeInterval: a group's interval is the mean over the pages that changed, as in paper E.
func TestChangeInterval(t *testing.T) {
	page := func(url string, kinds ...change.Kind) Watched {
		p := Watched{URL: url, Seed: true, Kind: "000", Visits: []change.Visit{{At: day, State: "ok"}}}
		for i, kind := range kinds {
			p.Visits = append(p.Visits, change.Visit{At: int64(3+2*i) * day, State: "ok", Change: kind})
		}
		return p
	}
	all := []Watched{
		page("http://a.kr/", change.Text, change.Text, change.Content, change.Text, change.None, change.Text, change.None, change.None, change.None), // 18 / 4
		page("http://b.kr/", change.None, change.None, change.Text, change.None, change.None, change.None, change.None, change.None, change.None),    // 18 / 1
	}
	for i := range 58 {
		all = append(all, page(fmt.Sprintf("http://c%d.kr/", i), change.None, change.Content, change.None, change.None, change.None, change.None, change.None, change.None, change.None))
	}
	g := counted(t, ChangeOptions{}, watchedStream(all...)).Kind[0]
	if *g.ChangeInterval != 11.25 || *g.ChangeIntervalMost != 18 || *g.Naive != 60*18/5. || *g.Changed != 2./60 {
		t.Errorf("mean %v, most %v, all days by all changes %v, share changed %v; want 11.25, 18, 216, 2/60", *g.ChangeInterval, *g.ChangeIntervalMost, *g.Naive, *g.Changed)
	}
}

// TestSeedsOfAllRounds: the start-page tables count only seeds downloaded in every round.
func TestSeedsOfAllRounds(t *testing.T) {
	rounds := []Round{{2 * day, 3 * day}, {4 * day, 5 * day}}
	visits := func(began int64, states ...string) (all []change.Visit) {
		for i, state := range append([]string{"ok"}, states...) {
			all = append(all, change.Visit{At: began + int64(i)*2*day, State: state, Code: 404, Change: change.Text})
		}
		return all
	}
	r := counted(t, ChangeOptions{Rounds: rounds}, watchedStream(
		Watched{URL: "http://all.kr/", Seed: true, Visits: visits(0, "ok", "not_modified")},
		Watched{URL: "http://all.kr/x", Visits: visits(0, "ok", "ok")},
		Watched{URL: "http://some.com/", Seed: true, Visits: visits(0, "ok", "code")},
		Watched{URL: "http://late.org/", Seed: true, Visits: visits(2*day+1, "ok")},
	))
	if len(r.SeedTLD) != 1 || r.SeedTLD[0].Name != "kr" || r.SeedTLD[0].Pages != 1 || len(r.SeedSecond) != 1 || len(r.TLD) != 3 {
		t.Errorf("%+v, %+v; of all pages %+v", r.SeedTLD, r.SeedSecond, r.TLD)
	}
	if got := counted(t, ChangeOptions{}, watchedStream(Watched{URL: "http://all.kr/", Seed: true, Visits: visits(0, "ok")})).SeedTLD; len(got) != 0 {
		t.Errorf("without a round %+v", got)
	}
}

// TestPaper: start pages with paper E's download counts give its SS and FF, and the tables show its figures.
func TestPaper(t *testing.T) {
	var rounds []Round
	for n := range int64(9) {
		rounds = append(rounds, Round{Began: (2 + 2*n) * day, Ended: (3 + 2*n) * day})
	}
	var pages []Watched
	for n, seeds := range paperDownloads {
		for i := range seeds {
			p := Watched{URL: fmt.Sprintf("http://s%d-%d.co.kr/", n, i), Seed: true, Kind: "ha0", Visits: []change.Visit{{At: day, State: "ok"}}}
			for k, round := range rounds {
				v := change.Visit{At: round.Began, State: "ok"}
				if k >= n {
					v.State = "connect_timeout"
				}
				p.Visits = append(p.Visits, v)
			}
			pages = append(pages, p)
		}
	}
	r := counted(t, ChangeOptions{Rounds: rounds}, watchedStream(pages...))
	if math.Round(*r.SeedSS*1e4) != 9638 || math.Round(*r.SeedFF*1e4) != 7426 || r.SeedTLD[0].Pages != 953 {
		t.Errorf("SS %.4f, FF %.4f, %d of kr; want 0.9638, 0.7426, 953", *r.SeedSS, *r.SeedFF, r.SeedTLD[0].Pages)
	}
	var b strings.Builder
	WriteText(&b, r.Tables(), 80)
	said := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{" 9 953 953 953 8 ", " 1 1,424 1,096 1,424 1,096 2 ", " kr 953 0.0 % – – – 6.86d ", " co.kr 953 0.0 % – – – 6.16d ", " 0 1,096 0.0 % – – – 7.66d ", " ha0 1,096 0.0 % 72.6 % – – 6.31d "} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestTopGroups(t *testing.T) {
	var pages []Watched
	for i := range 30 {
		pages = append(pages, Watched{URL: fmt.Sprintf("http://a.t%02d/", i), Visits: []change.Visit{{At: day, State: "ok"}, {At: 3 * day, State: "ok", Change: change.Unsure}}})
	}
	r := counted(t, ChangeOptions{Top: 5}, watchedStream(pages...))
	if last := r.TLD[len(r.TLD)-1]; len(r.TLD) != 6 || last.Name != othersName || last.Pages != 25 || *last.Naive != 2 {
		t.Errorf("%d rows, the last %+v", len(r.TLD), last)
	}
	if r.SS != nil || r.FF != nil {
		t.Error("SS or FF without a round")
	}
}

// visited simulates visits every gap days to a page that changes by a Poisson process.
func visited(rng *rand.Rand, rate, gap float64, looks int) (v []change.Visit) {
	v = []change.Visit{{At: day, State: "ok"}}
	for range looks {
		kind := change.None
		if rng.Float64() < -math.Expm1(-rate*gap) {
			kind = change.Text
		}
		v = append(v, change.Visit{At: v[len(v)-1].At + int64(gap*day), State: "ok", Change: kind})
	}
	return v
}

func looks(v []change.Visit) (all []change.Interval) {
	for i := range v[1:] {
		all = append(all, change.Interval{Days: float64(v[1+i].At-v[i].At) / day, Changed: v[1+i].Change == change.Text})
	}
	return all
}

// TestIntervals: a group's interval is its median page's, and the naive one is longer. The 95 % interval covers
// about 92 % of webs, since it ignores that the prior's spread is estimated.
func TestIntervals(t *testing.T) {
	for _, c := range []struct {
		gap, holds float64 // days; least share of webs
	}{{1, .87}, {4, .87}} {
		t.Run(fmt.Sprintf("looks every %g days", c.gap), func(t *testing.T) { intervals(t, c.gap, c.holds) })
	}
}

func intervals(t *testing.T, gap, least float64) {
	const pages, median = 40, 2.
	webs := testkit.Rounds(10, 80)
	holds, ratio, naive := 0, 0., 0.
	for seed := range webs {
		rng := rand.New(rand.NewPCG(uint64(seed), 7))
		var all []Watched
		for i := range pages {
			rate := math.Exp(.7*rng.NormFloat64()) / median
			all = append(all, Watched{URL: fmt.Sprintf("http://h%d.test/", i), Kind: "0a0", Visits: visited(rng, rate, gap, 8)})
		}
		of := func(p *Watched) change.Page {
			return change.Page{Host: p.URL, Group: change.Group{Kind: p.Kind, Site: p.URL}, Visits: looks(p.Visits)}
		}
		model := change.Learn(func(yield func(change.Page) bool) {
			for i := range all {
				if !yield(of(&all[i])) {
					return
				}
			}
		})
		g := counted(t, ChangeOptions{Rate: func(p *Watched) (change.Estimate, bool) { return model.Estimate(of(p)), true }}, watchedStream(all...)).Kind[0]
		if g.CI[0] <= median && median <= g.CI[1] {
			holds++
		}
		ratio += math.Log(*g.Interval / median)
		naive += math.Log(*g.Naive / median)
	}
	ratio, naive = math.Exp(ratio/float64(webs)), math.Exp(naive/float64(webs))
	t.Logf("the interval holds in %d of %d webs; it is %.2f of the true one in the mean, time by changes %.2f", holds, webs, ratio, naive)
	if float64(holds) < least*float64(webs) || !(math.Abs(ratio-1) <= .15) || naive < 1.05 {
		t.Errorf("the interval holds in %d of %d webs, it is %.2f of the true one, time by changes %.2f", holds, webs, ratio, naive)
	}
}

// TestFreshness: the estimated freshness of copies matches a simulation.
func TestFreshness(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 7))
	for _, c := range []struct{ rate, spread, days float64 }{{.2, 0, 3}, {.2, .5, 3}, {2, .3, 1}, {1e-6, .1, 10}, {50, .2, 10}} {
		const draws = 200_000
		fresh, behind := 0., 0.
		for range draws {
			first := rng.ExpFloat64() / (c.rate * math.Exp(c.spread*rng.NormFloat64()))
			if first > c.days {
				fresh++
			} else {
				behind += c.days - first
			}
		}
		e := change.Estimate{Rate: c.rate, Lo: c.rate * math.Exp(-z95*c.spread), Hi: c.rate * math.Exp(z95*c.spread)}
		current, age := copied(e, c.days)
		if !(math.Abs(current-fresh/draws) <= .01) || !(math.Abs(age-behind/draws) <= .01*c.days) {
			t.Errorf("%+v: current %.4f, behind %.4f days; simulated %.4f, %.4f", c, current, age, fresh/draws, behind/draws)
		}
	}
}

// TestCopied, by hand: at one change a day, a copy six days old is current with probability e⁻⁶ and
// 6 − (1 − e⁻⁶) days behind. When √3 standard deviations of the log rate are ln 2, a copy one day old
// is current with e^−½/6 + 2e⁻¹/3 + e⁻²/6.
func TestCopied(t *testing.T) {
	spread := math.Ln2 / math.Sqrt(3)
	sure := change.Estimate{Rate: 1, Lo: 1, Hi: 1}
	for _, c := range []struct {
		rate               change.Estimate
		days, current, age float64
	}{
		{sure, 6, 0.002479, 5.002479},
		{sure, 0, 1, 0},
		{change.Estimate{Rate: 1, Lo: math.Exp(-z95 * spread), Hi: math.Exp(z95 * spread)}, 1, 0.368897, 0.375375},
	} {
		if current, age := copied(c.rate, c.days); !(math.Abs(current-c.current) <= 1e-6) || !(math.Abs(age-c.age) <= 1e-6) {
			t.Errorf("%+v: %.6f, %.6f", c, current, age)
		}
	}
	page := Watched{URL: "http://a.test/", Visits: []change.Visit{{At: day, State: "ok"}, {At: 4 * day, State: "not_modified"}, {At: 5 * day, State: "connect_timeout"}}}
	f := counted(t, ChangeOptions{Now: 10 * day, Rate: func(*Watched) (change.Estimate, bool) { return sure, true }}, watchedStream(page, page)).Freshness
	if !(math.Abs(*f.Now-0.002479) <= 1e-6) || !(math.Abs(*f.Age-5.002479) <= 1e-6) {
		t.Errorf("two pages seen six days ago: current %.6f, behind %.6f days; want 0.002479, 5.002479", *f.Now, *f.Age)
	}
}

// TestMiddle, by hand: rates of 1, e and e² a day, each with standard deviation ½ of its logarithm, have
// a median interval of 1/e days. The logarithms 0, 1, 2 have variance 1, plus their own ¼ is 1.25; the
// median's variance is 1.25 · π/2 · 1.25/3 = 0.818123. Equal rates give that of one page, ¼.
func TestMiddle(t *testing.T) {
	for _, c := range []struct {
		logs             []float64
		middle, variance float64
	}{
		{[]float64{2, 0, 1}, 1, 0.818123},
		{[]float64{1, 1, 1}, 1, 0.25},
		{[]float64{3}, 3, 0.25},
		{[]float64{0, 3, 1, 2}, 1.5, (5./3 + 0.25) * min(1, math.Pi/2*(5./3+0.25)/(4*5./3))},
	} {
		var p pace
		for _, z := range c.logs {
			p.add(change.Estimate{Rate: math.Exp(z), Lo: math.Exp(z - z95/2), Hi: math.Exp(z + z95/2)})
		}
		days, ci := p.interval()
		want, half := math.Exp(-c.middle), z95*math.Sqrt(c.variance)
		if !(math.Abs(*days-want) <= 1e-6) || !(math.Abs(ci[0]-want*math.Exp(-half)) <= 1e-5) || !(math.Abs(ci[1]-want*math.Exp(half)) <= 1e-5) {
			t.Errorf("logarithms %v: %v days %v, want %v ± %v in the logarithm", c.logs, *days, *ci, want, half)
		}
	}
}

// TestCopies: a gone page's copy is outdated since then; failed visits show nothing.
func TestCopies(t *testing.T) {
	never := func(*Watched) (change.Estimate, bool) { return change.Estimate{}, true }
	rounds := []Round{{2 * day, 3 * day}}
	r := counted(t, ChangeOptions{Now: 10 * day, Rate: never, Rounds: rounds}, watchedStream(
		Watched{URL: "http://a.test/", Visits: []change.Visit{{At: day, State: "ok"}, {At: 2 * day, State: "code", Code: 404}, {At: 6 * day, State: "code", Code: 404}}},
		Watched{URL: "http://b.test/", Visits: []change.Visit{{At: day, State: "ok"}}},
		Watched{URL: "http://c.test/", Visits: []change.Visit{{At: day, State: "ok"}, {At: 2 * day, State: "ok", Change: change.Text}, {At: 4 * day, State: "not_modified"}, {At: 5 * day, State: "connect_timeout"}}},
		Watched{URL: "http://d.test/", Visits: []change.Visit{{At: day, State: "ok"}, {At: 3 * day, State: "redirect", Code: 301}, {At: 4 * day, State: "ok", Change: change.Content}}},
	))
	if r.Gone != 1 || r.Moved != 0 || r.Back != 1 {
		t.Errorf("%d gone, %d moved, %d back; want a.test gone and d.test back", r.Gone, r.Moved, r.Back)
	}
	f := r.Freshness
	if f.Pages != 4 || !(math.Abs(*f.Now-.75) <= 1e-4) || !(math.Abs(*f.Age-2) <= 1e-3) || *f.WhenAsked != 2./3 || len(f.Rounds) != 1 || f.Rounds[0] != (roundFresh{1, 0}) {
		t.Errorf("%+v: now %g, behind %g, when asked %g", f, *f.Now, *f.Age, *f.WhenAsked)
	}
	if f := counted(t, ChangeOptions{}, watchedStream()).Freshness; f.Now != nil || f.Age != nil || f.WhenAsked != nil {
		t.Errorf("of no page: %+v", f)
	}
}

// TestReport: the report has all plots and tables, escapes text from the web, and may be empty.
func TestReport(t *testing.T) {
	var pages []Watched
	for i := range 20 {
		p := Watched{URL: fmt.Sprintf("http://a.t%d/", i), Kind: "<b>", Visits: []change.Visit{{At: day, State: "ok"}}}
		for n := range int64(5) {
			p.Visits = append(p.Visits, change.Visit{At: (2 + n) * day, State: "ok", Change: change.Kind(n % 3)})
		}
		pages = append(pages, p)
	}
	rate := func(*Watched) (change.Estimate, bool) { return change.Estimate{Rate: 4, Lo: 1, Hi: 9}, true }
	r := counted(t, ChangeOptions{Now: 8 * day, Rate: rate, Rounds: []Round{{2 * day, 3 * day}, {4 * day, 5 * day}}}, watchedStream(pages...))
	var b bytes.Buffer
	testkit.Must(t, r.WriteReport(&b, "some & pages"))
	for _, want := range []string{"some &amp; pages", "Pages downloaded in n rounds", "Freshness by round", ">Visits<", "The median page by top-level domain", "by second level", "by depth", "kind of links", "6 hours", "&lt;b&gt;"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q", want)
		}
	}
	if n := strings.Count(b.String(), "application/json"); n != 7 || strings.Contains(b.String(), "<b>") {
		t.Errorf("%d plots, want 7; or markup of the web", n)
	}
	if err := counted(t, ChangeOptions{}, watchedStream()).WriteReport(&b, ""); err != nil {
		t.Error(err)
	}
}

// TestPulse: any time span is cut into at most mostParts parts.
func TestPulse(t *testing.T) {
	for _, gap := range []int64{1, 700, 60_000, 5 * day} {
		var p pulse
		for i := range int64(10_000) {
			p.add(&change.Visit{At: 100*day + i*gap, Change: change.Kind(i % 4)})
		}
		kept, all, changed := len(p.by), int64(0), int64(0)
		parts := p.parts()
		for i, part := range parts {
			all, changed = all+part.visits, changed+part.changed
			if i > 0 && part.at <= parts[i-1].at {
				t.Errorf("gaps of %d ms: parts out of order", gap)
			}
		}
		if all != 10_000 || changed != 5000 || len(parts) > mostParts || parts[0].at != 0 || kept > mostKept || gap > 500 && len(parts) < mostParts/3 {
			t.Errorf("gaps of %d ms: %d parts (%d kept), %d visits, %d changes", gap, len(parts), kept, all, changed)
		}
	}
	if (&pulse{}).parts() != nil {
		t.Error("parts of nothing")
	}
}

func TestPeriod(t *testing.T) {
	for days, want := range map[float64]string{4.251: "4.25 days", 1: "1 days", .25: "6 hours", 1. / 1440: "1 minutes", 1e-4: "8.64 seconds", 0: "0 seconds"} {
		if got := inWords(days); got != want {
			t.Errorf("%g: %s, want %s", days, got, want)
		}
	}
}
