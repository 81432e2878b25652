package cluster

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"fossick/internal/testkit"
)

// ofSeed returns the schedule of a seed: without a budget, with one too small, or with one spent
// just before the end.
func ofSeed(seed uint64, defect defect) schedule {
	return schedule{seed: seed, maxPages: []int64{0, 0, 15, 36}[seed%4], defect: defect}
}

// TestSimulation runs schedules of losses, crashes, freezes and cuts. In each, requests to a host
// neither overlap nor break its crawl delay. No page is lost or fetched again without cause, the
// budget is kept, and the crawl ends. FOSSICK_SCHEDULES sets how many; 100,000 take four minutes
// on two cores.
func TestSimulation(t *testing.T) {
	var counts struct {
		sync.Mutex
		fetches, crashes, moved, takeovers int
		ended                              map[string]int
	}
	counts.ended = map[string]int{}
	schedules := uint64(testkit.Rounds(100, 4_000))
	if n, err := strconv.Atoi(os.Getenv("FOSSICK_SCHEDULES")); err == nil {
		schedules = uint64(n)
	}
	testkit.Must(t, search(0, schedules, sound, "", func(w *world) {
		counts.Lock()
		defer counts.Unlock()
		counts.fetches += w.fetches
		counts.crashes += w.crashes
		counts.moved += w.moved
		counts.takeovers += w.takeovers
		counts.ended[w.ended]++
	}))
	t.Logf("%d schedules: %d fetches, %d crashes, partitions came to an owner %d times, %d of them from the dead; ended %v",
		schedules, counts.fetches, counts.crashes, counts.moved, counts.takeovers, counts.ended)
}

// TestFoundSchedules runs schedules that found an error: an agent was down when the exchange lost
// its values. Its sites began anew, though another agent had its replica.
func TestFoundSchedules(t *testing.T) {
	for _, seed := range []uint64{67124, 59253} {
		if w := simulate(ofSeed(seed, sound)); w.wrong != nil {
			t.Error(w.wrong)
		}
	}
}

// search runs schedules on all processors until one fails in the given way.
func search(from, schedules uint64, defect defect, way string, look func(w *world)) error {
	var next atomic.Uint64
	var wrong atomic.Pointer[world]
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for wrong.Load() == nil {
				seed := next.Add(1) - 1
				if seed >= schedules {
					return
				}
				w := simulate(ofSeed(from+seed, defect))
				look(w)
				if w.wrong != nil && strings.Contains(w.wrong.Error(), way) {
					wrong.CompareAndSwap(nil, w)
				}
			}
		})
	}
	wg.Wait()
	if w := wrong.Load(); w != nil {
		return w.wrong
	}
	return nil
}

// TestPlantedDefects: the simulation finds each mistake that the protocol must avoid. The plain
// test begins at a schedule that is known to find it.
func TestPlantedDefects(t *testing.T) {
	for _, c := range []struct {
		name   string
		defect defect
		way    string // the expected error
		known  uint64
	}{
		{"a frozen agent goes on", noFence, "still does", 1068},
		{"messages of any epoch", noEpoch, "never fetched", 81},
		{"outbox trimmed early", trimOnSend, "never fetched", 0},
		{"acknowledged before the commit", ackOnReceipt, "never fetched", 240},
		{"taken over without a rest", noRest, "fetches from host", 11},
		{"the dead's pages granted again", deadAreFree, "pages of", 35},
		{"pages given back count twice", returnsTwice, "pages of", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testkit.Asked() {
				c.known = 0
			}
			var runs atomic.Uint64
			err := search(c.known, 20_000, c.defect, c.way, func(*world) { runs.Add(1) })
			if err == nil {
				t.Fatalf("%d schedules found nothing", runs.Load())
			}
			t.Logf("found after %d schedules: %.200v", runs.Load(), err)
		})
	}
}

// TestSameSeed: a schedule is reproducible, so that its failure can be studied.
func TestSameSeed(t *testing.T) {
	for seed := range uint64(8) {
		s := ofSeed(seed, sound)
		s.trace = true
		a, b := simulate(s), simulate(s)
		for i := range min(len(a.log), len(b.log)) {
			if a.log[i] != b.log[i] {
				t.Fatalf("seed %d, event %d:\n%s\n%s", seed, i, a.log[i], b.log[i])
			}
		}
		if len(a.log) != len(b.log) || len(a.log) == 0 {
			t.Errorf("seed %d: %d events and %d", seed, len(a.log), len(b.log))
		}
	}
}
