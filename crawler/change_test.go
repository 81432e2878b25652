package crawler

import (
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"fossick/internal/testkit"
)

// changing crawls markedWeb and calls do once, on another goroutine, while the named URL is in
// flight.
func changing(t *testing.T, url string, do func(c *Crawler) error) (*fakeWeb, Result) {
	t.Helper()
	w := markedWeb()
	opt := newOptions(t, w, "http://h.test/")
	c := testkit.Call(New(opt)).Must(t)
	var once sync.Once
	done := make(chan error, 1)
	w.asked = func(asked string) {
		if asked == url {
			once.Do(func() { done <- do(c) })
		}
	}
	r := testkit.Call(c.Run(t.Context())).Must(t)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return w, r
}

// TestPauseStopsLeasesOnly: requests in flight end, no other begins, and the crawl neither
// ends nor forgets its queue until it goes on.
func TestPauseStopsLeasesOnly(t *testing.T) {
	yes, no := true, false
	resumed := make(chan error, 1)
	var still int
	w, r := changing(t, "http://h.test/bad1", func(c *Crawler) error {
		if err := c.Change(t.Context(), Change{Paused: &yes}); err != nil {
			return err
		}
		go func() {
			for { // until bad1 is stored
				best, total, err := c.Best(t.Context(), 3)
				if err != nil || total == 6 {
					if still = len(best); err == nil {
						err = c.Change(t.Context(), Change{Paused: &no})
					}
					resumed <- err
					return
				}
			}
		}()
		return nil
	})
	if err := <-resumed; err != nil {
		t.Fatal(err)
	}
	if still != 3 || r.Counts.Pages != 9 || r.Stopped != StopEmpty || len(w.urls()) != 9 {
		t.Errorf("%d of the best links, then %d pages, %s; want 3, 9, %s", still, r.Counts.Pages, r.Stopped, StopEmpty)
	}
}

// TestExcludeWhileItRuns: waiting URLs and new ones are left out, with the reason.
func TestExcludeWhileItRuns(t *testing.T) {
	w, r := changing(t, "http://h.test/bad1", func(c *Crawler) error {
		return c.Change(t.Context(), Change{Exclude: regexp.MustCompile("/good[12]")})
	})
	if r.Counts.Pages != 7 || r.Counts.States["none"] != 2 || slices.Contains(w.urls(), "http://h.test/good1") {
		t.Errorf("%d pages, %v; want 7, and 2 in none", r.Counts.Pages, r.Counts.States)
	}
}

// TestLimitsWhileItRuns: a lower limit of pages or of time ends the crawl, and stop does.
func TestLimitsWhileItRuns(t *testing.T) {
	pages, moment := uint64(4), time.Nanosecond
	for want, to := range map[Stop]Change{StopMaxPages: {MaxPages: &pages}, StopMaxTime: {MaxTime: &moment}, StopInterrupted: {Stop: true}} {
		_, r := changing(t, "http://h.test/bad1", func(c *Crawler) error { return c.Change(t.Context(), to) })
		if r.Stopped != want || r.Counts.Pages >= 9 || want == StopMaxPages && r.Counts.Pages != pages {
			t.Errorf("%s after %d pages; want %s", r.Stopped, r.Counts.Pages, want)
		}
	}
}
