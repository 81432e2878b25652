package change

import (
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"fossick/internal/testkit"
)

// TestFivePagesInTime: the scheduler gives a hundred of each of TestFivePages' pages the visits
// planned. Five pages alone would be fetched in turn: their intervals differ by less than the time
// between two fetches.
func TestFivePagesInTime(t *testing.T) {
	const copies, days = 100, 200
	var pages []Copy
	for i := range 5 * copies {
		pages = append(pages, Copy{Rate: float64(1 + i%5), Weight: 1})
	}
	s := started(t, pages, SchedulerOptions{Policy: "cho", Budget: 5 * copies})
	visits := make([]float64, 5)
	for now := 0.0; now < days; {
		page, again := s.Next(now)
		if now = again; page >= 0 {
			visits[page%5] += 1.0 / copies / days
			s.Visited(page, now, true)
		}
	}
	for i, want := range []float64{1.15, 1.36, 1.35, 1.14, 0.00} {
		if math.Abs(visits[i]-want) > 0.02 {
			t.Errorf("page %d: %.3f visits a day, want %.2f", i, visits[i], want)
		}
	}
}

// driven drives a scheduler through random fetches that take time, and keeps a server's log.
type driven struct {
	t        *testing.T
	rng      *rand.Rand
	s        *Scheduler
	pages    []Copy
	rests    []float64
	now      float64
	flying   []flight
	busy     map[int]bool
	free     []float64
	starts   []float64
	lastSeen []float64
}

type flight struct {
	page int
	end  float64
}

// TestManners: for any policy and fetches of random length that may fail, no host gets two requests
// at once or one before its rest is over, no page two at once, and no day exceeds the budget.
func TestManners(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range 12 {
		for _, p := range Policies {
			n, hosts := 1+rng.IntN(60), 1+rng.IntN(6)
			pages, _ := randomPages(rng, n, hosts)
			rests := make([]float64, hosts)
			for h := range rests {
				rests[h] = rng.Float64() / 20
			}
			for i := range pages {
				if rng.IntN(2) == 0 {
					pages[i].Rate = math.NaN()
				}
			}
			budget := 1 + 400*rng.Float64()
			w := &driven{t: t, rng: rng, pages: pages, rests: rests, busy: map[int]bool{}, free: make([]float64, hosts), lastSeen: make([]float64, n)}
			w.s = started(t, pages, SchedulerOptions{Policy: p.Name, Budget: budget, HostRests: rests})
			for w.now < 8 {
				w.step()
			}
			withinBudget(t, w.starts, budget)
		}
	}
}

func (w *driven) step() {
	page, again := w.s.Next(w.now)
	if page < 0 {
		w.pass(again)
		return
	}
	h := w.pages[page].Host
	if w.busy[h] {
		w.t.Fatalf("host %d is asked twice at once", h)
	}
	if w.now < w.free[h] {
		w.t.Fatalf("host %d rests until %g and is asked at %g", h, w.free[h], w.now)
	}
	w.busy[h] = true
	w.starts = append(w.starts, w.now)
	w.flying = append(w.flying, flight{page, w.now + w.rng.Float64()/100})
}

func (w *driven) pass(again float64) {
	next, which := min(again, w.now+1), -1
	for i, f := range w.flying {
		if f.end < next {
			next, which = f.end, i
		}
	}
	w.now = max(w.now, next)
	if which < 0 {
		return
	}
	page := w.flying[which].page
	h := w.pages[page].Host
	w.flying = append(w.flying[:which], w.flying[which+1:]...)
	w.busy[h], w.free[h] = false, w.now+w.rests[h]
	switch w.rng.IntN(8) {
	case 0:
		w.s.Missed(page, w.now)
	default:
		w.s.Visited(page, w.now, w.rng.IntN(2) == 0)
	}
	if w.rng.IntN(8) == 0 {
		w.free[h] = max(w.free[h], w.now+w.rng.Float64()/4)
		w.s.Rest(h, w.free[h])
	}
	w.s.News(w.rng.IntN(len(w.pages)), w.now)
}

// withinBudget checks that no day has more fetches than the budget plus that of a minute.
func withinBudget(t *testing.T, starts []float64, budget float64) {
	t.Helper()
	most := int(budget*(1+minute)) + 1
	for i := range starts {
		if i >= most && starts[i]-starts[i-most] < 1-1e-9 {
			t.Fatalf("more than %d fetches within %g days; the budget is %g a day", most, starts[i]-starts[i-most], budget)
		}
	}
}

// TestRestingHostIsPassedOver: a free host's page is taken while another host rests.
func TestRestingHostIsPassedOver(t *testing.T) {
	pages := made([]float64{1, 1, 1}, []float64{1, 1, 1}, []int{0, 0, 1})
	pages[0].Last, pages[1].Last, pages[2].Last = -30, -20, -10
	s := started(t, pages, SchedulerOptions{Policy: "uniform", Budget: 1e6, HostRests: []float64{0.5, 0.5}})
	first, _ := s.Next(100)
	second, _ := s.Next(100.1)
	if pages[first].Host == pages[second].Host {
		t.Fatalf("pages %d and %d are of one host", first, second)
	}
	if page, again := s.Next(100.2); page >= 0 || !math.IsInf(again, 1) {
		t.Errorf("both hosts are in use, and page %d is next, or at %g", page, again)
	}
	s.Visited(first, 100.2, false)
	s.Visited(second, 100.3, false)
	if page, again := s.Next(100.3); page >= 0 || math.Abs(again-100.7) > 1e-9 {
		t.Errorf("page %d, again at %g, want 100.7", page, again)
	}
	s.Rest(pages[first].Host, 101)
	if page, _ := s.Next(100.9); page < 0 || pages[page].Host != pages[second].Host {
		t.Errorf("page %d while host %d rests", page, pages[first].Host)
	}
	if page, _ := s.Next(101); page < 0 || pages[page].Host != pages[first].Host {
		t.Errorf("page %d, and host %d is free again", page, pages[first].Host)
	}
}

// TestNews: only a policy that learns visits a page at once after news, if worth it.
func TestNews(t *testing.T) {
	for _, c := range []struct {
		policy string
		weight float64
		want   bool
	}{{"learn", 1, true}, {"learn", 1e-9, false}, {"cho", 1, false}} {
		pages := []Copy{{Rate: .1, Weight: 1}, {Rate: .1, Weight: c.weight}}
		s := testkit.Call(NewScheduler(pages, 0, SchedulerOptions{Policy: c.policy, Budget: 1})).Must(t)
		for i := range pages {
			s.Visited(i, 0, false)
			s.queue.set(int32(i), 1000)
		}
		s.News(1, 5)
		if got := s.queue.due[1] == 5; got != c.want {
			t.Errorf("%s, importance %g: due at %g", c.policy, c.weight, s.queue.due[1])
		}
	}
}

// TestMissedIsNoEvidence: a failed fetch is no evidence, and the page gets its turn again.
func TestMissedIsNoEvidence(t *testing.T) {
	s := started(t, made([]float64{math.NaN()}, []float64{1}, nil), SchedulerOptions{Policy: "learn", Budget: 2})
	page, _ := s.Next(1)
	s.Missed(page, 1)
	if s.state[0].evidence.visits != 0 || s.state[0].last != 0 {
		t.Errorf("it is taken for a visit: %+v", s.state[0])
	}
	if again, at := s.Next(3); again != 0 {
		t.Errorf("no second turn: %d, at %g", again, at)
	}
	s.Visited(0, 3, true)
	s.Visited(0, 4, false) // a visit that Next did not ask for
	if e := s.state[0].evidence; e.visits != 2 || e.found() != 1 || e.changed[0] != 3 || e.unchanged != 1 {
		t.Errorf("got %+v", e)
	}
}

func TestSchedulerRefuses(t *testing.T) {
	good := made([]float64{1, 1}, []float64{1, 1}, nil)
	for _, c := range []struct {
		name  string
		pages []Copy
		o     SchedulerOptions
		want  string
	}{
		{"policy", good, SchedulerOptions{Policy: "best", Budget: 1}, "choose one of uniform, cho, learn"},
		{"budget", good, SchedulerOptions{Policy: "cho"}, "positive number"},
		{"budget without end", good, SchedulerOptions{Policy: "cho", Budget: math.Inf(1)}, "positive number"},
		{"rate below 0", made([]float64{-1}, []float64{1}, nil), SchedulerOptions{Policy: "cho", Budget: 1}, "must be 0 to"},
		{"weight below 0", made([]float64{1}, []float64{-1}, nil), SchedulerOptions{Policy: "cho", Budget: 1}, "weight of -1"},
		{"last", []Copy{{Last: math.NaN()}}, SchedulerOptions{Policy: "cho", Budget: 1}, "last visit"},
		{"rest", good, SchedulerOptions{Policy: "cho", Budget: 1, HostRests: []float64{-1}}, "a rest of -1"},
		{"host", made([]float64{1}, []float64{1}, []int{1}), SchedulerOptions{Policy: "cho", Budget: 1, HostRests: []float64{1}}, "host 1"},
	} {
		if _, err := NewScheduler(c.pages, 0, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	empty := started(t, nil, SchedulerOptions{Policy: "learn", Budget: 1})
	if page, again := empty.Next(0); page >= 0 || !math.IsInf(again, 1) {
		t.Errorf("of no pages, %d is next at %g", page, again)
	}
}

func TestSameDraws(t *testing.T) {
	run := func() measured {
		w := newWeb(rand.New(rand.NewPCG(1, 1)), laws{pages: 500})
		s := started(t, w.unknown(), SchedulerOptions{Policy: "learn", Budget: 100, HostRests: w.hostRests})
		return simulate(w, s, []float64{0, 5}, rand.New(rand.NewPCG(1, 2)))[0]
	}
	if a, b := run(), run(); a != b {
		t.Errorf("%+v, then %+v", a, b)
	}
}

// TestMemory checks the memory per page that Scheduler documents.
func TestMemory(t *testing.T) {
	const n = 200_000
	pages, _ := randomPages(rand.New(rand.NewPCG(1, 1)), n, 1)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s := started(t, pages, SchedulerOptions{Policy: "uniform", Budget: 1000})
	runtime.GC()
	runtime.ReadMemStats(&after)
	if each := float64(after.HeapAlloc-before.HeapAlloc) / n; each > 64 {
		t.Errorf("%.1f bytes a page", each)
	}
	runtime.KeepAlive(s)
	runtime.KeepAlive(pages)
}

func started(t testing.TB, pages []Copy, o SchedulerOptions) *Scheduler {
	t.Helper()
	s := testkit.Call(NewScheduler(pages, 0, o)).Must(t)
	return s
}

// TestExpect: under each policy, of pages that mostly fail, those less likely to succeed get fewer
// visits, none is forgotten, and the budget goes to the others.
func TestExpect(t *testing.T) {
	const n, days = 200, 64
	for _, policy := range Policies {
		pages := make([]Copy, n)
		for i := range pages {
			pages[i] = Copy{Rate: math.NaN(), Weight: 1, Last: -1}
		}
		s := testkit.Call(NewScheduler(pages, 0, SchedulerOptions{Policy: policy.Name, Budget: n})).Must(t)
		visits := [2]int{}
		least := n * days
		each := make([]int, n)
		all := 0
		for now := 0.; now < days; {
			page, again := s.Next(now)
			if page < 0 {
				now = math.Min(again, now+1)
				continue
			}
			gone := page % 2
			visits[gone]++
			each[page]++
			all++
			if gone == 1 {
				s.Expect(page, .05)
				s.Missed(page, now)
			} else {
				s.Visited(page, now, all%3 == 0)
			}
		}
		for _, v := range each {
			least = min(least, v)
		}
		if float64(visits[1]) > .5*float64(visits[0]) || least < 3 || all < n*days*9/10 {
			t.Errorf("%s: %d visits to pages that are had, %d to those that are not, %d at least; %d in all, want %d", policy.Name, visits[0], visits[1], least, all, n*days)
		}
	}
}
