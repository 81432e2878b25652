package monitor

import (
	"net/http"
	"net/http/pprof"
	"net/netip"
)

// handleProfiles serves Go's profiles of the running crawl under /debug/pprof,
// to the machine itself only: they tell more of it than others should know. A CPU
// profile also costs it some time, so no page in a browser may have one made.
//
//	go tool pprof http://127.0.0.1:9100/debug/pprof/profile?seconds=30
func handleProfiles(mux *http.ServeMux) {
	mux.HandleFunc("GET /debug/pprof/", localOnly(pprof.Index)) // heap, goroutine, block, mutex…
	mux.HandleFunc("GET /debug/pprof/profile", localOnly(pprof.Profile))
	mux.HandleFunc("GET /debug/pprof/symbol", localOnly(pprof.Symbol))
	mux.HandleFunc("GET /debug/pprof/trace", localOnly(pprof.Trace))
}

// localOnly refuses requests that do not come over loopback, and those that a browser
// makes for a page from elsewhere.
func localOnly(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		from, err := netip.ParseAddrPort(r.RemoteAddr)
		if err != nil || !from.Addr().Unmap().IsLoopback() {
			http.Error(w, "profiles are served to this machine only; ask for them from here", http.StatusForbidden)
			return
		}
		if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "none" && site != "same-origin" {
			http.Error(w, "profiles are not served to other web pages; ask for them by their own address", http.StatusForbidden)
			return
		}
		h(w, r)
	}
}
