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
	"fossick/internal/fulltest"
)

// gate lets so many requests pass between two stops. At a stop the crawl's only worker waits
// for its answer.
type gate struct {
	every, stops int
	passed       atomic.Int64
	reached      chan struct{} // one for each stop
	goOn         chan struct{} // to go on from it
}

func (g *gate) pass() {
	if n := int(g.passed.Add(1)); n%g.every == 0 && n/g.every <= g.stops {
		g.reached <- struct{}{}
		<-g.goOn
	}
}

// TestStatsOfACrawl reads a store that a crawl is writing: the web stops the crawl at some
// requests, and each time stats begins as the crawl goes on to the next stop; from the last it
// goes on when stats has ended. What stats says is of one moment: each table is as counted from so much of the server's log and the corpus.
// The crawl asks for the same as one that nobody reads.
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
	read, at := &requestLog{}, &gate{every: 20, stops: fulltest.Rounds(3, 4), reached: make(chan struct{}, 1), goOn: make(chan struct{}, 1)}
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
			if !last { // the crawl does not end meanwhile, for it comes to the next stop
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

// compareMoment counts as much of the log as stats has seen, and returns how many exchanges that is.
func compareMoment(t *testing.T, set *datasets.Set, seeds []string, log *requestLog, got statsTables, before float64) float64 {
	t.Helper()
	seen := got.sum(t, "outcomes", "exchanges")
	if seen < before {
		t.Errorf("%v exchanges after %v were seen", seen, before)
	}
	var part []request
	for tick := time.NewTicker(time.Millisecond); ; <-tick.C { // a line may be written after its answer is on record
		if part = firstOf(log.requests(t), int(seen)); part != nil {
			break
		}
	}
	t.Logf("%v exchanges for pages, %v pages", seen, got.sum(t, "depths", "stored"))
	want := newWebCount(t, set, seeds...)
	want.began, want.ended = part[0].Start, time.Now()
	want.read(part)
	delete(want.want, "host_labels") // robots.txt of the next host may be on record already
	want.compare(got)
	return seen
}

// firstOf is the log up to so many requests for pages; nil where it has fewer.
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

// pathsOf are all that was asked for, sorted: a host that was slow once rests longer.
func pathsOf(log []request) (all []string) {
	for _, r := range log {
		all = append(all, r.Host+r.Path)
	}
	slices.Sort(all)
	return all
}
