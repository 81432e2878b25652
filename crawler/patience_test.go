package crawler

import (
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler/fetch"
	"fossick/crawler/frontier"
	"fossick/store"
)

// links returns twenty links of each priority, each at its own party or all at one.
func links(one bool, priorities ...float64) (all []frontier.Waiting) {
	for _, p := range priorities {
		for range 20 {
			party := frontier.Host(1)
			if !one {
				party = frontier.Host(len(all) + 1)
			}
			all = append(all, frontier.Waiting{Priority: p, Party: party})
		}
	}
	return all
}

// TestPrice: by hand, from the rule in docs/frontier.md.
func TestPrice(t *testing.T) {
	any := math.Inf(-1)
	for _, c := range []struct {
		name   string
		opt    PatienceOptions
		budget Budget
		links  []frontier.Waiting
		want   float64
	}{
		{"a few links", PatienceOptions{Factor: 3}, Budget{Pages: 960}, links(true, .9)[:4], any},
		{"ranks: the last pages", PatienceOptions{Factor: 3}, Budget{Pages: 1}, links(true, .9, .8), .9},
		{"a tenth of the harvest is no loss", PatienceOptions{Factor: 3, Chances: true}, Budget{Pages: 1, Harvest: .5}, links(true, .9, .8), .9 - .05},
		// Forty hosts have good links: a third is 14, and the tenth of 0 is nothing.
		{"a third of the hosts", PatienceOptions{Factor: 3, Chances: true}, Budget{Pages: 1}, links(false, .9, .8, .1), .9},
		{"two thirds of the hosts", PatienceOptions{Factor: 1.5, Chances: true}, Budget{Pages: 1}, links(false, .9, .8, .1), .8},
		{"hosts with poor links do not count", PatienceOptions{Factor: 1.5, Chances: true}, Budget{Pages: 1}, links(false, .9, .1, .1), .9},
		{"nor do they where all are small", PatienceOptions{Factor: 1.5, Chances: true}, Budget{Pages: 1}, links(false, .09, .08, .01), .08},
		{"half the price is good", PatienceOptions{Factor: 1.5, Chances: true}, Budget{Pages: 1}, links(false, .9, .45, .1), .45},
		{"by ranks they do", PatienceOptions{Factor: 1.5}, Budget{Pages: 1}, links(false, .9, .1, .1), .1},
		{"poor beside what was found", PatienceOptions{Factor: 3, Chances: true}, Budget{Pages: 1, Harvest: .9}, links(true, .3, .2), any},
		{"not so poor", PatienceOptions{Factor: 3, Chances: true}, Budget{Pages: 1, Harvest: .7}, links(true, .3, .2), .3 - .07},
		{"just not poor", PatienceOptions{Factor: 3, Chances: true}, Budget{Pages: 1, Harvest: 1}, links(true, .35, .34), .25},
		{"by ranks nothing is poor", PatienceOptions{Factor: 3}, Budget{Pages: 1, Harvest: .9}, links(true, .3, .2), .3},
		// 50 pages of 2 requests, each a second of some party, in 100 s.
		{"time enough for one party", PatienceOptions{Factor: 3}, Budget{Pages: 50, Requests: 2, Cycle: time.Second, Limited: true, Time: 100 * time.Second}, links(true, .9, .8), .9},
		{"too little for it", PatienceOptions{Factor: 3}, Budget{Pages: 50, Requests: 2, Cycle: time.Second, Limited: true, Time: 99 * time.Second}, links(true, .9, .8), any},
		{"thirty parties must be busy", PatienceOptions{Factor: 10}, Budget{Pages: 60, Requests: 1, Cycle: time.Second, Limited: true, Time: 2 * time.Second}, links(false, .9, .8), .8},
		{"more than there are", PatienceOptions{Factor: 10}, Budget{Pages: 60, Requests: 1, Cycle: time.Second, Limited: true, Time: time.Second}, links(false, .9, .8), any},
		{"the time is over", PatienceOptions{Factor: 3}, Budget{Pages: 1, Limited: true}, links(true, .9, .8), any},
	} {
		got := NewPatience(c.opt).Price(c.budget, func(dst []frontier.Waiting, n int) []frontier.Waiting {
			return append(dst, c.links[:min(n, len(c.links))]...)
		})
		if !(math.Abs(got-c.want) <= 1e-12) && got != c.want {
			t.Errorf("%s: price %g, want %g", c.name, got, c.want)
		}
	}
}

// TestBest: forty hosts have links of .8 or more.
func TestBest(t *testing.T) {
	k := NewPatience(PatienceOptions{Factor: 3})
	k.Price(Budget{Pages: 1}, func(dst []frontier.Waiting, n int) []frontier.Waiting {
		return append(dst, links(false, .9, .8, .1)...)
	})
	if best, parties := k.Best(.8); best != .9 || parties != 40 {
		t.Errorf("best %g at %d parties, want .9 at 40", best, parties)
	}
	if best, parties := k.Best(1); best != 0 || parties != 0 {
		t.Errorf("nothing is worth 1, and yet best %g at %d parties", best, parties)
	}
}

// TestWindow: the price is that of one sixteenth of the pages left, at most one in 64 of the
// known links; near the end it is the fifth best.
func TestWindow(t *testing.T) {
	var all []frontier.Waiting
	for n := range surveyed {
		all = append(all, frontier.Waiting{Priority: float64(surveyed - n), Party: 1})
	}
	for _, c := range []struct{ pages, known, want int }{
		{1, surveyed, 4}, {64, surveyed, 4}, {160, surveyed, 10}, {1600, surveyed, surveyed / 64}, {1600, 512, 8}, {1600, 10, 4},
	} {
		got := NewPatience(PatienceOptions{Factor: 3}).Price(Budget{Pages: c.pages}, func(dst []frontier.Waiting, n int) []frontier.Waiting {
			return append(dst, all[:c.known]...)
		})
		if got != all[c.want].Priority {
			t.Errorf("%d pages left, %d links known: price %g, want %g", c.pages, c.known, got, all[c.want].Priority)
		}
	}
}

// TestWide: the survey grows until the workers have enough to do, and shrinks later.
func TestWide(t *testing.T) {
	many := func(each int) (all []frontier.Waiting) {
		for n := range 64 * surveyed {
			all = append(all, frontier.Waiting{Priority: .9 - .1*float64(n)/(64*surveyed), Party: frontier.Host(n / each)})
		}
		return all
	}
	k, widest := NewPatience(PatienceOptions{Factor: 3, Chances: true}), 0
	price := func(links []frontier.Waiting, workers int) float64 {
		return k.Price(Budget{Pages: 1, Cycle: time.Second, Took: 100 * time.Millisecond, Workers: workers}, func(dst []frontier.Waiting, n int) []frontier.Waiting {
			widest = max(widest, n)
			return append(dst, links[:n]...)
		})
	}
	for _, c := range []struct {
		name          string
		each, workers int
		wide, party   int // links examined, in units of surveyed; the party that sets the price
	}{
		{"of one party each", 1, 9, 1, 30},
		{"of sixteen each", 16, 9, 2, 30}, // 90 parties are 1,440 links
		{"of very many each", 4096, 9, 16, 2},
		{"enough for three workers", 16, 3, 1, 10},
	} {
		links := many(c.each)
		*k, widest = *NewPatience(k.opt), 0
		got := price(links, c.workers)
		holds := 1 // doubles with each doubling of the links
		if c.wide > 1 {
			holds = 2 * c.wide
		}
		if want := links[(c.party-1)*c.each].Priority; got != want || widest != c.wide*surveyed || k.holds() != holds {
			t.Errorf("%s: price %g, which holds %d times as long, looked at %d; want %g, %d, %d times %d", c.name, got, k.holds(), widest, want, holds, c.wide, surveyed)
		}
	}
	*k = *NewPatience(PatienceOptions{Factor: 3})
	if price(many(4096), 9); k.holds() != 1 {
		t.Error("by order alone nobody knows what is good, and more was looked at")
	}
	*k = *NewPatience(PatienceOptions{Factor: 3, Chances: true})
	price(many(4096), 9)
	for range 5 {
		price(many(1), 9)
	}
	if k.holds() != 1 {
		t.Errorf("a price still holds %d times as long", k.holds())
	}
}

// TestWaits: a skipped link counts as refused until it is requested. The first link after a wait
// was waited for, unless refused before or below the price.
func TestWaits(t *testing.T) {
	w, at := newWaits(), time.UnixMilli(1000)
	poor, good := frontier.Item{ID: 1, Key: 1, Priority: 0.1}, frontier.Item{ID: 2, Key: 2, Priority: 0.9}
	asked := 0
	best := func(float64) (float64, int) { asked++; return 0.9, 3 }
	w.taken(at, good)
	if w.of(2, at) != nil {
		t.Error("a link that nobody waited for has a wait")
	}
	w.refused(at, poor, 0.5, best)
	w.refused(at.Add(time.Second), poor, 0.6, best)
	if waits, free, held := w.now(at.Add(2 * time.Second)); !waits || free != 0.1 || held != 2*time.Second {
		t.Errorf("waits %v, %g is free, %v; want true, 0.1, 2 s", waits, free, held)
	}
	w.taken(at.Add(2*time.Second), good)
	want := store.Wait{Since: 1000, Millis: 2000, Price: 0.6, Best: 0.9, Free: 0.1}
	if got := w.End(2, at.Add(3*time.Second)); got == nil || *got != want {
		t.Errorf("waited for: %+v, want %+v", got, want)
	}
	w.taken(at.Add(5*time.Second), poor)
	want = store.Wait{Since: 1000, Millis: 4000, Refused: true, Price: 0.5, Best: 0.9, Free: 0.1, Hosts: 3}
	if got := w.End(1, at.Add(4*time.Second)); got == nil || *got != want || asked != 1 {
		t.Errorf("left: %+v, asked %d times; want %+v, once", got, asked, want)
	}
	if w.of(1, at) != nil || w.of(2, at) != nil {
		t.Error("what was asked for is not forgotten")
	}
	if waits, _, held := w.now(at.Add(time.Hour)); waits || held != 2*time.Second {
		t.Errorf("waits %v, %v in all; want false, 2 s", waits, held)
	}
	w.refused(at, poor, 0.5, best)
	w.taken(at.Add(time.Second), frontier.Item{ID: 3, Key: 3, Priority: 0.3})
	if w.of(3, at) != nil {
		t.Error("a link below the price was waited for")
	}
	w.refused(at, poor, 0.5, best)
	w.taken(at.Add(time.Second), frontier.Item{ID: 3, Key: 3, Priority: 0.5})
	if got := w.End(3, at.Add(time.Second)); got == nil || got.Millis != 1000 {
		t.Errorf("a link that is just worth the price: %+v", got)
	}
	// A refused link that is taken after the price has fallen is still recorded as left.
	left := frontier.Item{ID: 6, Key: 6, Priority: 0.4}
	w.refused(at, left, 0.5, best)
	w.refused(at.Add(time.Second), poor, 0.3, best)
	w.taken(at.Add(2*time.Second), left)
	if got := w.End(6, at.Add(2*time.Second)); got == nil || !got.Refused || got.Price != 0.5 {
		t.Errorf("a link that was left and then taken: %+v", got)
	}
	w.refused(at, frontier.Item{ID: 4, Key: 4}, 0.5, best)
	w.taken(at.Add(time.Millisecond), frontier.Item{ID: 5, Key: 5, Priority: 0.9})
	if w.of(4, at.Add(time.Millisecond)) != nil || w.of(5, at) != nil {
		t.Error("a wait of a moment is told of")
	}
}

// TestLongRestEndsTheCrawl: a URL whose host asks for a year's rest stays queued for a year.
func TestLongRestEndsTheCrawl(t *testing.T) {
	const year = 365 * 24 * time.Hour
	synctest.Test(t, func(t *testing.T) {
		w := &fakeWeb{
			pages: map[string]string{
				"http://a.test/": html("gold", "http://b.test/"), "http://b.test/": html("gold b", "http://c.test/"),
				"http://c.test/": html("gold c"),
			},
			took: time.Second,
			fail: map[string][]fetch.Response{"http://b.test/": {{State: fetch.StateCode, Code: 503, RetryAfter: year}}},
		}
		opt := newOptions(t, w, "http://a.test/")
		opt.Workers = 4
		passed := time.Duration(0) // not slept, as the store's tickers run twice a second
		opt.Now = func() time.Time { return time.Now().Add(passed) }
		r := crawl(t, opt)
		asked := w.log[len(w.log)-1]
		if r.Stopped != StopEmpty || r.Counts.Pages != 1 || !r.WaitUntil.Equal(asked.end.Add(year)) {
			t.Errorf("stopped by %s with %d pages, waits until %v; want frontier_empty, 1, a year after %v",
				r.Stopped, r.Counts.Pages, r.WaitUntil, asked.end)
		}
		if took := time.Since(w.log[0].start); took > time.Minute {
			t.Errorf("the crawl took %v, want no wait", took)
		}
		if r = crawl(t, opt); len(w.log) != 4 || r.WaitUntil.IsZero() {
			t.Errorf("%d exchanges after a session in between, want 4", len(w.log))
		}
		passed = year
		if r = crawl(t, opt); r.Counts.Pages != 3 || !r.WaitUntil.IsZero() {
			t.Errorf("%d pages a year later, want 3; waits until %v", r.Counts.Pages, r.WaitUntil)
		}
	})
}

// TestMaxWait: rests up to exactly the limit are waited for.
func TestMaxWait(t *testing.T) {
	for _, tc := range []struct {
		rest, most time.Duration
		pages      uint64
	}{
		{2 * time.Minute, 0, 2}, {16 * time.Minute, 0, 1}, {17 * time.Minute, 17 * time.Minute, 2}, {time.Second, -1, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := &fakeWeb{
				pages: map[string]string{"http://a.test/": html("gold"), "http://b.test/": html("gold b")},
				fail:  map[string][]fetch.Response{"http://b.test/": {{State: fetch.StateCode, Code: 429, RetryAfter: tc.rest}}},
			}
			opt := newOptions(t, w, "http://a.test/", "http://b.test/")
			opt.MaxWait = tc.most
			if r := crawl(t, opt); r.Counts.Pages != tc.pages {
				t.Errorf("rest %v, most %v: %d pages, want %d", tc.rest, tc.most, r.Counts.Pages, tc.pages)
			}
		})
	}
}

// TestWaitsAreBounded: only the latest refused links are remembered.
func TestWaitsAreBounded(t *testing.T) {
	w, rng := newWaits(), rand.New(rand.NewPCG(1, 2))
	const many = 20 * remembered
	for range many {
		w.refused(time.UnixMilli(1), frontier.Item{ID: 1, Key: rng.Uint64()}, 1, func(float64) (float64, int) { return 1, 1 })
	}
	n := 0
	for range w.links.All() {
		n++
	}
	if n < remembered || n > 2*remembered {
		t.Errorf("%d links are remembered, want %d to %d", n, remembered, 2*remembered)
	}
}
