package crawler

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestWaitsAreKept: a running crawl reports its price. The journal keeps which links were left
// for better ones, which were waited for, and how long.
func TestWaitsAreKept(t *testing.T) {
	order := ordering(t, "relevance")
	synctest.Test(t, func(t *testing.T) {
		var links []string
		for n := range 6 {
			links = append(links, fmt.Sprintf("http://h0.example/90/%d", n))
		}
		for h := range 9 {
			links = append(links, fmt.Sprintf("http://h%d.example/10/0", h+1))
		}
		const start = "http://h0.example/start"
		w := &fakeWeb{pages: map[string]string{start: html("start", links...)}, took: 100 * time.Millisecond}
		for _, l := range links {
			w.pages[l] = html(strings.Repeat(l+" ", 20))
		}
		opt := newOptions(t, w, start)
		opt.Scorer, opt.Ordering, opt.Workers, opt.MaxPages = chanceScorer{}, order, 4, 9
		opt.Delay = Delay{Fixed: true, Rest: time.Second}
		c, err := New(opt)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		go func() {
			_, err := c.Run(t.Context())
			ended <- err
		}()
		time.Sleep(3500 * time.Millisecond)
		bad, err := c.Standing(t.Context(), "http://h1.example/10/0")
		if err != nil || bad == nil || !(bad.Price > 0.5 && bad.Price <= 0.9) || bad.Wait == nil || !bad.Wait.Refused || bad.Wait.Millis < 1000 {
			t.Errorf("the best that is free: %+v, wait %+v, %v; want one below the price, left for a second at least", bad, bad.Wait, err)
		}
		good, err := c.Standing(t.Context(), "http://h0.example/90/5")
		if err != nil || good == nil || good.Wait != nil {
			t.Errorf("what is waited for: %+v, %v; want no wait so far", good, err)
		}
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if _, err := c.Standing(t.Context(), start); err == nil {
			t.Error("a crawl that has ended still tells its price")
		}
		waited, refused := 0, 0
		for _, l := range links {
			for _, v := range life(t, opt.Store, l).Visits {
				switch w := v.Wait; {
				case w == nil:
				case w.Refused && w.Free == 0.1 && w.Best == 0.9 && w.Hosts == 1 && w.Price > 0.5 && w.Millis > 3000:
					refused++
				case !w.Refused && w.Free == 0.1 && w.Best == 0.9 && w.Millis > 500 && w.Millis <= 1100:
					waited++
				default:
					t.Errorf("%s: wait %+v", l, w)
				}
			}
		}
		if waited < 3 || refused == 0 {
			t.Errorf("%d pages were waited for and %d left for them, want 3 and 1 at least", waited, refused)
		}
	})
}
