package crawler

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"fossick/crawler/fetch"
	"fossick/internal/page"
	"fossick/internal/testkit"
)

// illWeb is a fakeWeb whose hosts or network fail for a while.
type illWeb struct {
	*fakeWeb
	down func(host, url string) fetch.State // "" while it works
	wait time.Duration                      // time until a failure is noticed
	err  error                              // error of failures
}

func (w *illWeb) Fetch(ctx context.Context, req fetch.Request) *fetch.Response {
	state := w.down(page.Host(req.URL), req.URL)
	if state == "" {
		r := w.fakeWeb.Fetch(ctx, req)
		if w.down(page.Host(req.URL), req.URL) == "" || r.State == fetch.StateNone {
			return r
		}
		return &fetch.Response{URL: req.URL, State: fetch.StateHeaderTimeout, Start: r.Start, Took: r.Took, Err: errors.New("it went down")}
	}
	start := time.Now()
	time.Sleep(w.wait)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, served{page.Host(req.URL), req.URL, start, time.Now()})
	return &fetch.Response{URL: req.URL, State: state, Start: start, Took: w.wait, Err: w.err}
}

func (w *illWeb) Resolve(ctx context.Context, host string) (netip.Addr, error) {
	if w.down(host, "") == fetch.StateNoIP {
		time.Sleep(w.wait)
		return netip.Addr{}, w.err
	}
	return w.fakeWeb.Resolve(ctx, host)
}

// asked returns the number of requests to a host since a time.
func (w *illWeb) asked(host string, from time.Time) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.log {
		if s.host == host && !s.start.Before(from) {
			n++
		}
	}
	return n
}

type failingResolver struct{ err error }

func (r failingResolver) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return nil, r.err
}

// noIP returns package fetch's error for a resolver's error.
func noIP(t *testing.T, err *net.DNSError) error {
	t.Helper()
	f := testkit.Call(fetch.New(fetch.Options{Resolver: failingResolver{err}})).Must(t)
	defer f.Close()
	_, found := f.Resolve(t.Context(), "a.test:80")
	if fetch.StateOf(found) != fetch.StateNoIP {
		t.Fatalf("%v is %s, want no_ip", found, fetch.StateOf(found))
	}
	return found
}
