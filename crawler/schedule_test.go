package crawler

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestNobodyWaits: at any moment there are as many exchanges as workers or free hosts (paper D1),
// except that newcomers leave some workers to others.
func TestNobodyWaits(t *testing.T) {
	for _, rest := range []time.Duration{0, 700 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) { checkNobodyWaits(t, rest) })
	}
}

func checkNobodyWaits(t *testing.T, rest time.Duration) {
	const hosts, pages, workers = 12, 15, 5
	web := map[string]string{}
	var seeds []string
	for h := range hosts {
		for p := range pages {
			u := fmt.Sprintf("http://h%d.test/%d", h, p)
			web[u] = html(fmt.Sprintf("gold %d %d", h, p))
			seeds = append(seeds, u)
		}
	}
	w := &fakeWeb{pages: web}
	rng := rand.New(rand.NewPCG(1, 2))
	w.asked = func(url string) {
		w.mu.Lock()
		took := time.Duration(1+rng.IntN(400)) * time.Millisecond
		w.mu.Unlock()
		if strings.HasPrefix(url, "http://h4.") {
			took *= 40
		}
		time.Sleep(took)
	}
	began := time.Now()
	opt := newOptions(t, w, seeds...)
	opt.Workers, opt.Delay = workers, Delay{Fixed: true, Rest: rest}
	if r := crawl(t, opt); r.Counts.Pages != hosts*pages {
		t.Fatalf("%d pages, want %d", r.Counts.Pages, hosts*pages)
	}
	byHost := map[string][]served{}
	moments := []time.Time{began}
	for _, s := range w.log {
		byHost[s.host] = append(byHost[s.host], s)
		moments = append(moments, s.end, s.end.Add(rest))
	}
	for _, at := range moments {
		at = at.Add(time.Millisecond / 2) // after all events of this moment
		busy, able, newcomers := 0, 0, 0
		for _, log := range byHost {
			able++ // in use, or free with URLs; log is in order of time
			last, going := time.Time{}, false
			for _, s := range log {
				going = going || !s.start.After(at) && s.end.After(at)
				if !s.end.After(at) {
					last = s.end
				}
			}
			if last.IsZero() {
				newcomers++
			}
			switch {
			case going:
				busy++
			case log[len(log)-1].end.Equal(last), !last.IsZero() && at.Before(last.Add(rest)):
				able-- // done, or resting
			}
		}
		if want := min(workers, able-newcomers+min(newcomers, workers-workers/newcomerShare)); busy < want {
			t.Errorf("%v after the start %d exchanges go on; %d workers, %d hosts in use or ready", at.Sub(began), busy, workers, able)
		}
	}
}
