package monitor

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestProfilesAreLocal: even with a public --listen, other machines and web pages in a browser get no profiles.
func TestProfilesAreLocal(t *testing.T) {
	mux := http.NewServeMux()
	handleProfiles(mux)
	for from, want := range map[string]int{
		"127.0.0.1:1234":          http.StatusOK,
		"[::1]:1234":              http.StatusOK,
		"[::ffff:127.0.0.1]:1234": http.StatusOK,
		"192.0.2.7:1234":          http.StatusForbidden,
		"[2001:db8::1]:1234":      http.StatusForbidden,
		"":                        http.StatusForbidden,
	} {
		for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap"} {
			r := httptest.NewRequest("GET", path, nil)
			r.RemoteAddr = from
			w := httptest.NewRecorder()
			mux.ServeHTTP(w, r)
			if w.Code != want {
				t.Errorf("%s from %q: %d, want %d", path, from, w.Code, want)
			}
		}
	}
	for site, want := range map[string]int{
		"none": http.StatusOK, "same-origin": http.StatusOK,
		"same-site": http.StatusForbidden, "cross-site": http.StatusForbidden, "of tomorrow": http.StatusForbidden,
	} {
		r := httptest.NewRequest("GET", "/debug/pprof/", nil)
		r.RemoteAddr = "127.0.0.1:1234"
		r.Header.Set("Sec-Fetch-Site", site)
		w := httptest.NewRecorder()
		if mux.ServeHTTP(w, r); w.Code != want {
			t.Errorf("for a page that is %s: %d, want %d", site, w.Code, want)
		}
	}
}
