package crawler

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// slowNames is a web with names for which no name server answers.
type slowNames struct {
	*fakeWeb
	took time.Duration
}

func (w *slowNames) Resolve(ctx context.Context, host string) (netip.Addr, error) {
	if !strings.HasPrefix(host, "silent") {
		return w.fakeWeb.Resolve(ctx, host)
	}
	select {
	case <-time.After(w.took):
		return netip.Addr{}, errors.New("no server answers")
	case <-ctx.Done():
		return netip.Addr{}, ctx.Err()
	}
}

// TestSlowNames: more names without an answer than workers do not delay the others.
func TestSlowNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &slowNames{fakeWeb: &fakeWeb{pages: map[string]string{}}, took: 15 * time.Second}
		var links []string
		for i := range 40 {
			links = append(links, fmt.Sprintf("http://silent%d.test/", i))
		}
		for i := range 10 {
			u := fmt.Sprintf("http://good%d.test/", i)
			links, w.pages[u] = append(links, u), html(fmt.Sprint("gold", i))
		}
		w.pages["http://seed.test/"] = html("gold", links...)
		opt := newOptions(t, w.fakeWeb, "http://seed.test/")
		opt.Fetcher, opt.Workers = w, 8
		start := time.Now()
		r := crawl(t, opt)
		checkSound(t, opt.Store)
		last := time.Duration(0)
		for _, s := range w.log {
			if !strings.HasSuffix(s.url, "/robots.txt") { // also requested later, to test this machine's network
				last = max(last, s.end.Sub(start))
			}
		}
		if r.Counts.Pages != 11 || last > 5*time.Second {
			t.Errorf("%d pages, the last after %v; want 11, within seconds", r.Counts.Pages, last)
		}
		if n := r.Counts.States["none"] + r.Counts.States["no_ip"] + r.Counts.States["connect_error"]; n != 40 {
			t.Errorf("states %v, want 40 names without an address", r.Counts.States)
		}
	})
}

// TestSlowNamesInterrupted: an interrupted crawl does not wait for look-ups.
func TestSlowNamesInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &slowNames{fakeWeb: &fakeWeb{}, took: time.Hour}
		opt := newOptions(t, w.fakeWeb, "http://silent1.test/", "http://silent2.test/", "http://silent3.test/")
		opt.Fetcher, opt.Workers = w, 2
		c, err := New(opt)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
		defer stop()
		start := time.Now()
		r, err := c.Run(ctx)
		if err != nil || r.Stopped != StopInterrupted || time.Since(start) > time.Minute {
			t.Errorf("%v, %v after %v", r.Stopped, err, time.Since(start))
		}
		checkSound(t, opt.Store)
	})
}
