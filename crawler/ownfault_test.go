package crawler

import (
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"fossick/crawler/fetch"
)

// TestNoMoreFiles: a process that for a while can open no files loses no URL.
func TestNoMoreFiles(t *testing.T) {
	for name, err := range map[string]error{
		"connection": &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("socket", syscall.EMFILE)},
		"name":       fmt.Errorf("no address for host: dial udp 10.0.0.1:53: socket: %s", syscall.EMFILE.Error()),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				w := &illWeb{fakeWeb: &fakeWeb{pages: manyPages(20, 5), took: 100 * time.Millisecond}, wait: time.Millisecond, err: err}
				w.down = func(host, _ string) fetch.State {
					if host != "h0.test:80" && during(start, 0, time.Minute) {
						return fetch.StateConnectError
					}
					return ""
				}
				opt := newOptions(t, w.fakeWeb, "http://h0.test/0")
				opt.Fetcher, opt.Workers = w, 8
				r := crawl(t, opt)
				checkAllStored(t, opt.Store, w.pages)
				checkSound(t, opt.Store)
				if r.Counts.States["connect_error"] != 0 {
					t.Errorf("states %v: want no connect_error", r.Counts.States)
				}
				if n := len(w.log); n > 20*5+20+20*70 {
					t.Errorf("%d requests: a host was asked more than once a second", n)
				}
			})
		})
	}
}

// TestNeverAnyFiles: a permanent lack of files ends the crawl.
func TestNeverAnyFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &illWeb{fakeWeb: &fakeWeb{pages: manyPages(20, 5)}, wait: time.Millisecond, err: syscall.EMFILE}
		w.down = func(string, string) fetch.State { return fetch.StateConnectError }
		opt := newOptions(t, w.fakeWeb, "http://h0.test/0", "http://h1.test/0")
		opt.Fetcher = w
		if r := crawl(t, opt); r.Counts.States["connect_error"] != 2 {
			t.Errorf("states %v: want both start pages given up", r.Counts.States)
		}
	})
}
