package change

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fossick/internal/testkit"
)

var update = flag.Bool("update", false, "write docs/data/netstate.tsv")

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// web simulates visits: rounds over all pages, with up to two quick retries of failures.
type web struct {
	hosts, pages, rounds int
	every                time.Duration
	state                func(host, page int, at time.Time) Outcome
}

func (w web) visits(r *rand.Rand) (all []Attempt) {
	for round := range w.rounds {
		for h := range w.hosts {
			for p := range w.pages {
				at := start.Add(time.Duration(round)*w.every + time.Duration(r.Int64N(int64(w.every/2))))
				for range 3 {
					o := w.state(h, p, at)
					all = append(all, Attempt{URL: fmt.Sprintf("http://h%d/%d", h, p), Host: fmt.Sprintf("h%d", h), At: at, Outcome: o})
					if o != transient {
						break
					}
					at = at.Add(time.Minute + time.Duration(r.Int64N(int64(20*time.Minute))))
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Attempt) int { return cmp.Compare(a.At.UnixNano(), b.At.UnixNano()) })
	return all
}

// spells says when something is up that alternates for exponential times.
type spells struct{ ends []time.Time } // of up, down, up, …

func newSpells(r *rand.Rand, up, down time.Duration, days int) spells {
	var s spells
	at := start.Add(-time.Duration(r.Float64() * float64(up)))
	for at.Before(start.AddDate(0, 0, days)) {
		for _, mean := range []time.Duration{up, down} {
			at = at.Add(time.Duration(r.ExpFloat64() * float64(mean)))
			s.ends = append(s.ends, at)
		}
	}
	return s
}

func (s spells) up(at time.Time) bool {
	i, _ := slices.BinarySearchFunc(s.ends, at, func(e, at time.Time) int { return e.Compare(at) })
	return i%2 == 0
}

func webs(r *rand.Rand, hosts int) []struct {
	name string
	web  web
} {
	const days = 20
	const day = 24 * time.Hour
	long := make([]spells, hosts)
	short := make([]spells, hosts)
	bad := make([]float64, hosts)
	dies := make([]float64, hosts*8)
	away := make([]int, hosts)
	for h := range hosts {
		long[h] = newSpells(r, 6*day, 2*day, days)
		short[h] = newSpells(r, 12*time.Hour, 20*time.Minute, days)
		bad[h] = math.Pow(r.Float64(), 3)
		away[h] = r.IntN(24)
	}
	for i := range dies {
		dies[i] = r.ExpFloat64() * 30
	}
	failed := func(bad bool) Outcome {
		if bad {
			return transient
		}
		return OK
	}
	hostsDown := func(h, _ int, at time.Time) Outcome { return failed(!long[h].up(at)) }
	shortly := func(h, _ int, at time.Time) Outcome { return failed(!short[h].up(at)) }
	dead := func(h, p int, at time.Time) Outcome {
		if at.Sub(start).Hours()/24 > dies[h*8+p] {
			return permanent
		}
		return OK
	}
	nightly := func(h, _ int, at time.Time) Outcome {
		return failed(h%2 == 0 && (at.Hour()-away[h]+24)%24 < 6)
	}
	chance := func(h, _ int, _ time.Time) Outcome { return failed(r.Float64() < bad[h]) }
	all := func(h, p int, at time.Time) Outcome {
		for _, f := range []func(int, int, time.Time) Outcome{dead, shortly, hostsDown} {
			if o := f(h, p, at); o != OK && (h%3 != 0 || o == permanent) {
				return o
			}
		}
		if h%6 == 0 {
			return nightly(h, p, at)
		}
		return OK
	}
	w := func(f func(int, int, time.Time) Outcome, every time.Duration) web {
		return web{hosts, 8, int(days * day / every), every, f}
	}
	return []struct {
		name string
		web  web
	}{
		{"hosts down for days", w(hostsDown, day)},
		{"hosts down for minutes", w(shortly, 6*time.Hour)},
		{"pages that die", w(dead, day)},
		{"hosts away at night", w(nightly, 7*time.Hour)},
		{"hosts that fail by chance", w(chance, day)},
		{"all of these", w(all, 12*time.Hour)},
	}
}

// scores holds the Brier scores (1950) of several predictors.
type scores struct {
	ours, chain, fitted, last, share float64
	bins                             [10]struct{ n, chance, good float64 } // reliability of ours
	n                                int
}

// compare scores predictors on revisits: ours, paper E's chain, and one fitted to these visits.
func compare(visits []Attempt) (s scores) {
	p := NewPredictor(PredictorOptions{})
	last := map[string]Outcome{}
	var follows [2][2]float64 // [success before][success after]
	good := 0
	for _, v := range visits {
		if before, seen := last[v.URL]; seen {
			follows[index(before == OK)][index(v.Outcome == OK)]++
			s.n++
			good += index(v.Outcome == OK)
		}
		last[v.URL] = v.Outcome
	}
	ss := follows[1][1] / (follows[1][0] + follows[1][1])
	ff := follows[0][0] / (follows[0][0] + follows[0][1])
	clear(last)
	share := float64(good) / float64(s.n)
	for _, v := range visits {
		before, seen := last[v.URL]
		truth := float64(index(v.Outcome == OK))
		if seen {
			c := p.Chance(v.URL, v.Host, v.At)
			square := func(x float64) float64 { return (x - truth) * (x - truth) / float64(s.n) }
			s.ours += square(c)
			s.share += square(share)
			if before == OK {
				s.chain, s.fitted, s.last = s.chain+square(firstSS), s.fitted+square(ss), s.last+square(1)
			} else {
				s.chain, s.fitted, s.last = s.chain+square(1-firstFF), s.fitted+square(1-ff), s.last+square(0)
			}
			b := &s.bins[min(int(c*10), 9)]
			b.n, b.chance, b.good = b.n+1, b.chance+c, b.good+truth
		}
		p.Learn(v)
		last[v.URL] = v.Outcome
	}
	return s
}

func (s scores) off() (sum float64) {
	for _, b := range s.bins {
		sum += math.Abs(b.chance-b.good) / float64(s.n)
	}
	return sum
}

// TestPredictor: for every kind of trouble the predictor beats paper E's chain and "as last time",
// and is no worse than the fitted chain; its chances are within 3 points of the truth.
// FOSSICK_FULL=1 takes three times the hosts, -update ten times, and writes the table.
func TestPredictor(t *testing.T) {
	r, hosts := rand.New(rand.NewPCG(2, 3)), testkit.Rounds(30, 100)
	if *update {
		hosts = 300
	}
	var out, bins strings.Builder
	for _, c := range webs(r, hosts) {
		s := compare(c.web.visits(r))
		row := fmt.Sprintf("%s\t%d\t%.4f\t%.4f\t%.4f\t%.4f\t%.4f\t%.3f\n", c.name, s.n, s.ours, s.chain, s.fitted, s.last, s.share, s.off())
		t.Log(row)
		out.WriteString(row)
		for i, b := range s.bins {
			if b.n > 0 {
				fmt.Fprintf(&bins, "%s\t%.1f to %.1f\t%.0f\t%.3f\t%.3f\n", c.name, float64(i)/10, float64(i+1)/10, b.n, b.chance/b.n, b.good/b.n)
			}
		}
		if s.ours >= s.chain || s.ours >= s.last || s.ours > s.fitted+.001 || s.off() > .03 {
			t.Errorf("%s: Brier score %.4f; chain %.4f, fitted %.4f, as last time %.4f; chances off by %.3f", c.name, s.ours, s.chain, s.fitted, s.last, s.off())
		}
	}
	if !*update {
		return
	}
	head := "# FOSSICK_FULL=1 go test ./store/change -run TestPredictor -update. Made webs, 300 hosts of 8 pages for 20 days. Recorded 2026-11-25.\n"
	write(t, "netstate.tsv", head+"trouble\tvisits\tpredictor\tpaper E's chain\tchain fitted afterwards\tas last time\tshare of all\tchances off by\n"+out.String())
	write(t, "netstate-reliability.tsv", head+"trouble\tchance\tvisits\tmean chance\tcame\n"+bins.String())
}

func write(t *testing.T, name, text string) {
	if err := os.WriteFile(filepath.Join(testkit.Module(), "docs", "data", name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestFirstCells: before any visit each cell gives paper E's chance after the last outcome.
func TestFirstCells(t *testing.T) {
	p := NewPredictor(PredictorOptions{})
	for u := range Outcome(classes) {
		for h := range Outcome(classes) {
			for gap := range gapClasses * gapClasses {
				at := ((int(u)*gapClasses+gap/gapClasses)*classes+int(h))*gapClasses + gap%gapClasses
				want := firstAfter(u)
				if u == unknown {
					want = firstAfter(h)
				}
				if got := p.byBoth.chance(at); math.Abs(got-want) > 1e-6 { // cells are float32
					t.Fatalf("after outcome %d of the URL and %d of the host: %g, want %g", u, h, got, want)
				}
			}
		}
	}
}

func TestRunClasses(t *testing.T) {
	for run, want := range map[int]int{0: 0, 1: 0, 2: 1, 3: 2, 7: 2, 8: 3, 200: 3} {
		p := past{}
		p.run = uint8(run)
		if got := p.inRow(); got != want {
			t.Errorf("%d in a row: class %d, want %d", run, got, want)
		}
	}
}

// TestChains: for hosts that follow a known chain, eq. 1 and 2 come within 2 points of their
// expectation, the share of successes among all other visits.
func TestChains(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct{ ss, ff float64 }{{.9638, .7426}, {.9, .9}, {.99, .5}, {.7, .3}, {.5, .5}} {
		const hosts, crawls = 6000, 9
		up := (1 - c.ff) / (2 - c.ss - c.ff) // share of time
		counts := make(Downloads, crawls+1)
		for range hosts {
			state, good := r.Float64() < up, 0
			for i := range crawls {
				if i > 0 {
					stay := c.ff
					if state {
						stay = c.ss
					}
					next := state == (r.Float64() < stay)
					state = next
				}
				good += index(state)
			}
			counts[good]++
		}
		ss, _ := counts.SS()
		ff, _ := counts.FF()
		wantSS, wantFF := expected(c.ss, c.ff, crawls)
		t.Logf("chain %.4f %.4f: eq. 1 and 2 give %.4f %.4f, expected %.4f %.4f", c.ss, c.ff, ss, ff, wantSS, wantFF)
		if math.Abs(ss-wantSS) > .02 || math.Abs(ff-wantFF) > .02 {
			t.Errorf("chain %.4f %.4f: eq. 1 and 2 give %.4f %.4f, expected %.4f %.4f", c.ss, c.ff, ss, ff, wantSS, wantFF)
		}
	}
}

// expected returns the expectation of eq. 1 and 2 for a chain in equilibrium, from the exact
// distribution of successes (dynamic programming over visits).
func expected(ss, ff float64, crawls int) (float64, float64) {
	up := (1 - ff) / (2 - ss - ff)
	at := [2][]float64{make([]float64, crawls+1), make([]float64, crawls+1)} // [state][successes]
	at[0][0], at[1][1] = 1-up, up
	for range crawls - 1 {
		next := [2][]float64{make([]float64, crawls+1), make([]float64, crawls+1)}
		for n := range crawls + 1 {
			next[0][n] += at[0][n]*ff + at[1][n]*(1-ss)
			if n < crawls {
				next[1][n+1] += at[0][n]*(1-ff) + at[1][n]*ss
			}
		}
		at = next
	}
	var a, b, x, y float64
	for n := range crawls + 1 {
		p := at[0][n] + at[1][n]
		if n > 0 {
			a += p * float64(n-1)
			b += p * float64(crawls-1)
		}
		if n < crawls {
			x += p * float64(crawls-1-n)
			y += p * float64(crawls-1)
		}
	}
	return a / b, x / y
}

// TestTrial: on simulated webs the trial gives the scores of compare, in any order of visits.
func TestTrial(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	for _, c := range webs(r, 10) {
		visits := c.web.visits(r)
		for i := range visits { // distinct times make the order unique
			visits[i].At = start.Add(time.Duration(i) * time.Minute)
		}
		want := compare(visits)
		r.Shuffle(len(visits), func(i, j int) { visits[i], visits[j] = visits[j], visits[i] })
		var trial Trial
		for _, v := range visits {
			trial.Add(v)
		}
		got := trial.Score()
		for what, pair := range map[string][2]float64{
			"visits": {float64(got.Visits), float64(want.n)}, "in all": {float64(got.Of), float64(len(visits))}, "predictor": {got.Brier, want.ours},
			"chain": {got.Chain, want.chain}, "last": {got.Last, want.last}, "off": {got.Off, want.off()},
		} {
			if math.Abs(pair[0]-pair[1]) > 1e-9 {
				t.Errorf("%s, %s: %g, want %g", c.name, what, pair[0], pair[1])
			}
		}
		n, good := 0, 0
		for i, b := range got.Bins {
			n, good = n+b.Visits, good+b.Good
			if b.Visits > 0 && (b.Mean < float64(i)/10 || b.Mean > float64(i+1)/10) {
				t.Errorf("%s: mean %g in bin %d", c.name, b.Mean, i)
			}
		}
		if n != want.n {
			t.Errorf("%s: %d visits in bins, want %d", c.name, n, want.n)
		}
	}
	if s := new(Trial).Score(); s.Visits != 0 || s.Brier != 0 || s.Off != 0 {
		t.Errorf("%+v of no visits", s)
	}
}

// TestTrialIsBounded: if there are too many visits, whole hosts are left out.
func TestTrialIsBounded(t *testing.T) {
	var trial Trial
	const each = 40
	for host := range 2 * mostTried / each {
		for n := range each {
			trial.Add(Attempt{URL: fmt.Sprint(host), Host: fmt.Sprint(host), At: start.Add(time.Duration(n) * time.Hour), Outcome: Outcome(n % 2)})
		}
	}
	hosts := map[uint64]int{}
	for _, v := range trial.visits {
		hosts[v.host]++
	}
	for _, n := range hosts {
		if n != each {
			t.Fatalf("%d visits of a host, want %d", n, each)
		}
	}
	if n := len(trial.visits); n > mostTried || n < mostTried/4 {
		t.Errorf("%d visits are kept, want %d to %d", n, mostTried/4, mostTried)
	}
}
