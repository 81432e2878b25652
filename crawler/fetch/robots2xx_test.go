package fetch

import (
	"net/http"
	"strings"
	"testing"
)

// A robots.txt under any 2xx is a robots.txt (RFC 9309, 2.3.1.1); a page is one
// under 200 alone.
func TestRobotsUnderAnySuccess(t *testing.T) {
	var status int
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(status)
		if status != http.StatusNoContent {
			_, _ = w.Write([]byte("User-agent: *\nDisallow: /\n"))
		}
	})
	f := newTest(t, Options{})
	for _, c := range []struct {
		status  int
		allowed bool
	}{{200, false}, {201, false}, {202, false}, {203, false}, {204, true}, {206, false}, {226, false}, {299, false}, {404, true}} {
		status = c.status
		rules, final := RobotsFrom(f.Fetch(t.Context(), RobotsRequest(srv.URL+"/robots.txt")))
		if !final || rules.Allowed("fossick", "/") != c.allowed {
			t.Errorf("status %d: allowed %v, want %v", c.status, !c.allowed, c.allowed)
		}
		if want := map[bool]State{true: StateOK, false: StateCode}[status == 200]; f.Fetch(t.Context(), Request{URL: srv.URL}).State != want {
			t.Errorf("status %d of a page: want %s", c.status, want)
		}
	}
}

// What is sent back of a version is bounded: with 200 KB of it the server refuses
// the request.
func TestLongVersions(t *testing.T) {
	var got http.Header
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		w.WriteHeader(http.StatusNotModified)
	})
	f := newTest(t, Options{})
	for _, n := range []int{1, 100, maxValidatorBytes - 2, maxValidatorBytes - 1, 200 << 10} {
		tag := `"` + strings.Repeat("\xff", n) + `"`
		r := f.Fetch(t.Context(), Request{URL: srv.URL, ETag: tag})
		if sent := got.Get("If-None-Match") == tag; sent != (len(tag) <= maxValidatorBytes) {
			t.Errorf("version of %d bytes: sent %v", len(tag), sent)
		} else if want := map[bool]State{true: StateNotModified, false: StateCode}[sent]; r.State != want {
			t.Errorf("version of %d bytes: 304 is %s, want %s", len(tag), r.State, want)
		}
	}
}
