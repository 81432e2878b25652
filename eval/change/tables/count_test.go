package tables

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"fossick/eval/webstats"
	"fossick/store/change"
)

const day = msPerDay

func stream(pages ...Page) iter.Seq2[*Page, error] {
	return func(yield func(*Page, error) bool) {
		for i := range pages {
			if !yield(&pages[i], nil) {
				return
			}
		}
	}
}

func counted(t *testing.T, opt Options, pages iter.Seq2[*Page, error]) *Result {
	t.Helper()
	r, err := Count(t.Context(), opt, pages)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestCount goes by hand through three pages and three rounds.
func TestCount(t *testing.T) {
	rounds := []Round{{10 * day, 11 * day}, {12 * day, 13 * day}, {14 * day, 15 * day}, {16 * day, 0}}
	at := func(days int64, state string, code int, kind change.Kind) change.Visit {
		return change.Visit{At: days * day, State: state, Code: code, Change: kind}
	}
	r := counted(t, Options{Rounds: rounds}, stream(
		Page{URL: "http://a.co.kr/", Seed: true, Kind: "ha0", Visits: []change.Visit{ // changes twice in six days
			at(8, "ok", 200, 0), at(10, "ok", 200, change.Text), at(12, "not_modified", 304, 0), at(14, "ok", 200, change.Text)}},
		Page{URL: "http://b.kr/x", Depth: 2, Kind: "000", Visits: []change.Visit{ // goes, comes back; an advert
			at(9, "ok", 200, 0), at(10, "code", 404, 0), at(12, "code", 404, 0), at(14, "ok", 200, change.Content)}},
		Page{URL: "http://c.com/y", Depth: 2, Kind: "000", Visits: []change.Visit{ // moves
			at(9, "ok", 200, 0), at(10, "ok", 200, 0), at(12, "redirect", 301, 0), at(14, "redirect", 301, 0)}},
		Page{URL: "http://c.com/new", Depth: 3, Kind: "000", Visits: []change.Visit{at(13, "ok", 200, 0), at(14, "ok", 200, 0)}},
		Page{URL: "http://c.com/lost"},
	))
	for what, pair := range map[string][2]any{
		"pages":     {r.Pages, int64(4)},
		"visits":    {r.Visits, int64(3 + 3 + 3 + 1)}, // after the first of each
		"rounds":    {r.Rounds, 3},
		"S(n)":      {fmt.Sprint(r.Downloads), "[0 2 0 1]"},
		"of seeds":  {fmt.Sprint(r.SeedDownloads), "[0 0 0 1]"},
		"fates":     {fmt.Sprint(r.Gone, r.Moved, r.Back), "0 1 1"},
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
	if len(r.Tables()) != 8 || len(r.Sentences()) != 5 {
		t.Errorf("%d tables, %d sentences", len(r.Tables()), len(r.Sentences()))
	}
	if s := r.Sentences()[0]; !strings.HasPrefix(s, "Pages that changed did so every ") || !strings.Contains(s, "Korea") {
		t.Errorf("the first sentence compares nothing: %s", s)
	}
}

// TestChangeInterval: as in paper E, a page's interval is the time of observation by the number
// of its changes, and a group's is the mean of those of the pages that changed. However many pages
// never change, it is no longer than the observation.
func TestChangeInterval(t *testing.T) {
	page := func(url string, kinds ...change.Kind) Page {
		p := Page{URL: url, Seed: true, Kind: "000", Visits: []change.Visit{{At: day, State: "ok"}}}
		for i, kind := range kinds {
			p.Visits = append(p.Visits, change.Visit{At: int64(3+2*i) * day, State: "ok", Change: kind})
		}
		return p
	}
	all := []Page{
		page("http://a.kr/", change.Text, change.Text, change.Content, change.Text, change.None, change.Text, change.None, change.None, change.None), // 18 / 4
		page("http://b.kr/", change.None, change.None, change.Text, change.None, change.None, change.None, change.None, change.None, change.None),    // 18 / 1
	}
	for i := range 58 {
		all = append(all, page(fmt.Sprintf("http://c%d.kr/", i), change.None, change.Content, change.None, change.None, change.None, change.None, change.None, change.None, change.None))
	}
	g := counted(t, Options{}, stream(all...)).Kind[0]
	if *g.ChangeInterval != 11.25 || *g.ChangeIntervalMost != 18 || *g.Naive != 60*18/5. || *g.Changed != 2./60 {
		t.Errorf("mean %v, most %v, all days by all changes %v, share changed %v; want 11.25, 18, 216, 2/60", *g.ChangeInterval, *g.ChangeIntervalMost, *g.Naive, *g.Changed)
	}
}

// TestSeedsOfAllRounds: the tables of seeds are of those that were downloaded in each round.
func TestSeedsOfAllRounds(t *testing.T) {
	rounds := []Round{{2 * day, 3 * day}, {4 * day, 5 * day}}
	visits := func(began int64, states ...string) (all []change.Visit) {
		for i, state := range append([]string{"ok"}, states...) {
			all = append(all, change.Visit{At: began + int64(i)*2*day, State: state, Code: 404, Change: change.Text})
		}
		return all
	}
	r := counted(t, Options{Rounds: rounds}, stream(
		Page{URL: "http://all.kr/", Seed: true, Visits: visits(0, "ok", "not_modified")},
		Page{URL: "http://all.kr/x", Visits: visits(0, "ok", "ok")},
		Page{URL: "http://some.com/", Seed: true, Visits: visits(0, "ok", "code")},
		Page{URL: "http://late.org/", Seed: true, Visits: visits(2*day+1, "ok")},
	))
	if len(r.SeedTLD) != 1 || r.SeedTLD[0].Name != "kr" || r.SeedTLD[0].Pages != 1 || len(r.SeedSecond) != 1 || len(r.TLD) != 3 {
		t.Errorf("%+v, %+v; of all pages %+v", r.SeedTLD, r.SeedSecond, r.TLD)
	}
	if got := counted(t, Options{}, stream(Page{URL: "http://all.kr/", Seed: true, Visits: visits(0, "ok")})).SeedTLD; len(got) != 0 {
		t.Errorf("without a round %+v", got)
	}
}

// TestPaper: 1,424 start pages that were downloaded as often as paper E's have its SS and FF, and
// stand beside its figures.
func TestPaper(t *testing.T) {
	var rounds []Round
	for n := range int64(9) {
		rounds = append(rounds, Round{Began: (2 + 2*n) * day, Ended: (3 + 2*n) * day})
	}
	var pages []Page
	for n, seeds := range paperSeeds {
		for i := range seeds {
			p := Page{URL: fmt.Sprintf("http://s%d-%d.co.kr/", n, i), Seed: true, Kind: "ha0", Visits: []change.Visit{{At: day, State: "ok"}}}
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
	r := counted(t, Options{Rounds: rounds}, stream(pages...))
	if math.Round(*r.SeedSS*1e4) != 9638 || math.Round(*r.SeedFF*1e4) != 7426 || r.SeedTLD[0].Pages != 953 {
		t.Errorf("SS %.4f, FF %.4f, %d of kr; want 0.9638, 0.7426, 953", *r.SeedSS, *r.SeedFF, r.SeedTLD[0].Pages)
	}
	var b strings.Builder
	webstats.WriteText(&b, r.Tables(), 80)
	said := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{" 9 953 953 953 8 ", " 1 1,424 1,096 1,424 1,096 2 ", " kr 953 0.0 % – – – 6.86d ", " co.kr 953 0.0 % – – – 6.16d ", " 0 1,096 0.0 % – – – 7.66d ", " ha0 1,096 0.0 % 72.6 % – – 6.31d "} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// TestChains: hosts that are up and down by a known chain give its chances back.
func TestChains(t *testing.T) {
	const upUp, downDown, hosts, rounds = .9638, .7426, 20_000, 9
	rng := rand.New(rand.NewPCG(1, 19))
	var all []Round
	for n := range int64(rounds) {
		all = append(all, Round{Began: 10 + n*10, Ended: 15 + n*10})
	}
	r := counted(t, Options{Rounds: all}, func(yield func(*Page, error) bool) {
		for h := range hosts {
			p := Page{URL: fmt.Sprintf("http://h%d.test/", h), Visits: []change.Visit{{At: 1, State: "ok"}}}
			up := rng.Float64() < (1-downDown)/(2-upUp-downDown)
			for _, round := range all {
				v := change.Visit{At: round.Began, State: "ok"}
				if stay := map[bool]float64{true: upUp, false: downDown}[up]; rng.Float64() > stay {
					up = !up
				}
				if !up {
					v.State = "connect_timeout"
				}
				p.Visits = append(p.Visits, v)
			}
			if !yield(&p, nil) {
				return
			}
		}
	})
	if !(math.Abs(*r.NextSS-upUp) <= .02) || !(math.Abs(*r.NextFF-downDown) <= .02) {
		t.Errorf("%.4f and %.4f, want %.4f and %.4f within 0.02", *r.NextSS, *r.NextFF, upUp, downDown)
	}
	t.Logf("equations 1 and 2 say %.4f and %.4f, counted %.4f and %.4f", *r.SS, *r.FF, *r.NextSS, *r.NextFF)
}

// TestTop: what a table has no row for is added up in one.
func TestTop(t *testing.T) {
	var pages []Page
	for i := range 30 {
		pages = append(pages, Page{URL: fmt.Sprintf("http://a.t%02d/", i), Visits: []change.Visit{{At: day, State: "ok"}, {At: 3 * day, State: "ok", Change: change.Unsure}}})
	}
	r := counted(t, Options{Top: 5}, stream(pages...))
	if last := r.TLD[len(r.TLD)-1]; len(r.TLD) != 6 || last.Name != Others || last.Pages != 25 || *last.Naive != 2 {
		t.Errorf("%d rows, the last %+v", len(r.TLD), last)
	}
	if r.SS != nil || r.FF != nil {
		t.Error("SS or FF without a round")
	}
}
