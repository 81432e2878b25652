package main

import (
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"fossick/datasets"
	"fossick/datasets/web"
	"fossick/internal/testkit"
)

// gate stops a crawl at every few requests: its only worker waits for an answer until goOn.
type gate struct {
	every, stops int
	passed       atomic.Int64
	reached      chan struct{} // one value for each stop
	goOn         chan struct{} // one value ends a stop
}

func (g *gate) pass() {
	if n := int(g.passed.Add(1)); n%g.every == 0 && n/g.every <= g.stops {
		g.reached <- struct{}{}
		<-g.goOn
	}
}

// TestStatsOfACrawl runs stats on a store that a crawl is writing, between one stop and the next; at the
// last stop the crawl waits for it. Each table equals the count of a part of the server's log. The crawl
// requests what one without readers requests.
func TestStatsOfACrawl(t *testing.T) {
	set, err := datasets.Open("demo", datasets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var seeds, flags []string
	for _, host := range []string{"moneyroom", "northgate-bank", "homestead-society", "harbour-insurance", "ledger-archive"} {
		seeds = append(seeds, "http://"+host+".test/")
		flags = append(flags, "--seed", seeds[len(seeds)-1])
	}
	crawl := func(log io.Writer, pass func(), opened func(string, []string)) {
		addr, ca := serveNamed(t, set, pass, web.Options{Log: log, Faults: web.FaultPlan{Share: 0.1, Names: []string{"status-403", "redirect-nowhere", "wrong-type"}}})
		dir := filepath.Join(t.TempDir(), "crawl")
		opened(dir, append(append(countedCrawl(addr, ca, dir), "--links", "host"), flags...))
	}
	alone := &requestLog{}
	crawl(alone, func() {}, func(_ string, args []string) { fossick(t, args...) })
	read, at := &requestLog{}, &gate{every: 20, stops: testkit.Rounds(3, 4), reached: make(chan struct{}, 1), goOn: make(chan struct{}, 1)}
	defer close(at.goOn)
	crawl(read, at.pass, func(dir string, args []string) {
		ended := make(chan error, 1)
		go func() {
			killed, _ := runAndKill(t, args, 2*time.Minute)
			if ended <- nil; killed {
				t.Error("the crawl takes too long")
			}
		}()
		before := 0.0
		for stop := range at.stops {
			select {
			case <-at.reached:
			case <-ended:
				t.Fatalf("the crawl ended before stop %d", stop)
			}
			last := stop == at.stops-1
			if !last { // the crawl cannot end meanwhile: it reaches the next stop
				at.goOn <- struct{}{}
			}
			_, out := runAndKill(t, []string{"stats", dir, "--json", "--top", "0"}, time.Minute)
			var got statsTables
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			before = compareMoment(t, set, seeds, read, got, before)
			if last {
				at.goOn <- struct{}{}
			}
		}
		<-ended
		compareMoment(t, set, seeds, read, statsOf(t, dir), before)
	})
	if got, want := pathsOf(read.requests(t)), pathsOf(alone.requests(t)); !slices.Equal(got, want) {
		t.Errorf("with readers these were asked for\n%q, alone\n%q", got, want)
	}
}

// compareMoment compares stats with the part of the log that it saw, and returns its number of exchanges.
func compareMoment(t *testing.T, set *datasets.Set, seeds []string, log *requestLog, got statsTables, before float64) float64 {
	t.Helper()
	seen := got.sum(t, "outcomes", "exchanges")
	if seen < before {
		t.Errorf("%v exchanges after %v were seen", seen, before)
	}
	var part []request
	for tick := time.NewTicker(time.Millisecond); ; <-tick.C { // the server may log an answer after the crawl stores it
		if part = firstOf(log.requests(t), int(seen)); part != nil {
			break
		}
	}
	t.Logf("%v exchanges for pages, %v pages", seen, got.sum(t, "depths", "stored"))
	want := newWebCount(t, set, seeds...)
	want.began, want.ended = part[0].Start, time.Now()
	want.read(part)
	delete(want.want, "host_labels") // the next host's robots.txt may be stored already
	want.compare(got)
	return seen
}

// firstOf returns the log up to so many page requests, nil if it has fewer.
func firstOf(log []request, pages int) []request {
	for i, r := range log {
		if !ofPage(r) {
			continue
		}
		if pages--; pages == 0 {
			return log[:i+1]
		}
	}
	return nil
}

// pathsOf returns all requested paths, sorted, because slow answers change the order.
func pathsOf(log []request) (all []string) {
	for _, r := range log {
		all = append(all, r.Host+r.Path)
	}
	slices.Sort(all)
	return all
}
