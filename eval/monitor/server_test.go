package monitor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"fossick/crawler"
	"fossick/store"
)

// TestServerCostsNothing: idle connections do not make a crawl fail; profiles are served on request only.
func TestServerCostsNothing(t *testing.T) {
	for _, profiles := range []bool{false, true} {
		m, err := Listen(":0", profiles, Session{Topic: "x", Store: "s"})
		if err != nil {
			t.Fatal(err)
		}
		addr := m.Addr().String()
		if !strings.HasPrefix(addr, "127.0.0.1:") {
			t.Fatalf(":0 listens at %q", addr)
		}
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for path, want := range map[string]int{"/status": http.StatusOK, "/metrics": http.StatusOK, "/debug/pprof/": profileCode(profiles)} {
			resp, err := http.Get("http://" + addr + path)
			if err != nil {
				t.Fatal(err)
			}
			if resp.Body.Close(); resp.StatusCode != want {
				t.Errorf("%s with profiles %v: %d, want %d", path, profiles, resp.StatusCode, want)
			}
		}
		if err := m.Stop(); err != nil {
			t.Errorf("a connection that said nothing made an error: %v", err)
		}
	}
}

func profileCode(profiles bool) int {
	if profiles {
		return http.StatusOK
	}
	return http.StatusNotFound
}

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

// TestStarts: each failure is reported once; Failed and /status list all in seed order.
func TestStarts(t *testing.T) {
	s, err := store.Create(t.TempDir(), store.Info{Topic: "x"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const pages = startsATime + 10
	var seeds []string
	for i := range pages {
		seeds = append(seeds, fmt.Sprintf("http://h%d.test/", i))
	}
	b := s.Batch()
	defer b.Cancel()
	for i, u := range seeds {
		if err := errors.Join(b.PutDiscovery(store.ID(i+1), store.Discovery{URL: u, Via: store.ViaSeed}), b.PutSeen(store.HashURL(u), store.ID(i+1), false)); err != nil {
			t.Fatal(err)
		}
	}
	end := func(i int, state string) {
		if err := b.PutOutcome(store.ID(i+1), store.Outcome{State: state, Reason: "for a reason"}); err != nil {
			t.Fatal(err)
		}
	}
	starts := WatchStarts(seeds, s)
	end(pages-1, "code")
	end(1, "no_ip")
	end(2, "ok")
	end(3, "duplicate")
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	p := crawler.Progress{Counts: store.Counts{States: map[string]uint64{"ok": 1, "duplicate": 1, "code": 1, "no_ip": 1}}}
	var told []failedStart
	for range 3 {
		told = append(told, starts.Show(p)...)
	}
	first, last := failedStart{seeds[1], "no_ip", "for a reason"}, failedStart{seeds[pages-1], "code", "for a reason"}
	want := []failedStart{first, last}
	if !reflect.DeepEqual(told, want) {
		t.Errorf("told of %v, want %v", told, want)
	}
	if got := starts.Failed(); !reflect.DeepEqual(got, want) {
		t.Errorf("failed are %v, want %v", got, want)
	}
	m := &Server{}
	for _, want := range [][]failedStart{{}, want} {
		w := httptest.NewRecorder()
		m.ServeStatus(w, httptest.NewRequest("GET", "/status", nil))
		var got Status
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || !reflect.DeepEqual(got.SeedsFailed, want) {
			t.Errorf("/status has %v, %v; want %v", got.SeedsFailed, err, want)
		}
		m.ShowFailed(starts.Known())
	}
}

func TestTurnsAreShown(t *testing.T) {
	took := crawler.Stats{Total: 3 * time.Second, Longest: 2 * time.Second}
	took.Within[0], took.Within[6], took.Within[7], took.Within[len(crawler.Bounds)] = 7, 4, 2, 1
	took.Parts[crawler.Commit], took.Totals[crawler.Commit] = 1500*time.Millisecond, 9*time.Second
	m := &Server{}
	m.Show(crawler.Progress{Turns: took})

	status := httptest.NewRecorder()
	m.ServeStatus(status, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/status", nil))
	want := `"owner":{"turns":14,"over_100ms":3,"longest_seconds":2,"longest_part_seconds":{"commit":1.5,"frontier":0,"journal":0,"rescore":0}}`
	if !strings.Contains(status.Body.String(), want) {
		t.Errorf("/status: %s, want %s", status.Body, want)
	}

	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics{m})
	metrics := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(metrics, httptest.NewRequest("GET", "/metrics", nil))
	for _, want := range []string{
		`fossick_owner_turn_seconds_bucket{le="0.001"} 7`, `fossick_owner_turn_seconds_bucket{le="0.1"} 11`,
		`fossick_owner_turn_seconds_bucket{le="0.25"} 13`, `fossick_owner_turn_seconds_bucket{le="+Inf"} 14`,
		`fossick_owner_turn_seconds_sum 3`, `fossick_owner_turn_longest_part_seconds{part="commit"} 1.5`,
		`fossick_owner_seconds_total{part="commit"} 9`,
	} {
		if !strings.Contains(metrics.Body.String(), want+"\n") {
			t.Errorf("/metrics lacks %s:\n%s", want, metrics.Body)
		}
	}
}

// TestWholeIsShown: an agent's server shows the whole crawl, and reuses the exchange's answer.
func TestWholeIsShown(t *testing.T) {
	for _, fails := range []bool{false, true} {
		asked := 0
		m, err := Listen(":0", false, Session{Topic: "x", Store: "s", Agent: true, Whole: func(context.Context) (Whole, error) {
			asked++
			if fails {
				return Whole{}, errors.New("no servers")
			}
			return Whole{Agents: 3, Dead: 1, Partitions: 1024, Fetched: 500, Relevant: 200, Waiting: 7000, PagesPerSecond: 12.5}, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		get := func(path string) string {
			resp, err := http.Get("http://" + m.Addr().String() + path)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			b, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
		metrics, status := get("/metrics"), get("/status")
		if fails {
			if !strings.Contains(metrics, "fossick_cluster_up 0\n") || strings.Contains(metrics, "fossick_cluster_pages_total") || strings.Contains(status, `"whole"`) {
				t.Errorf("nobody answers: %s %s", metrics, status)
			}
		} else {
			for _, want := range []string{
				"fossick_cluster_up 1\n", `fossick_cluster_agents{state="alive"} 3`, `fossick_cluster_agents{state="dead"} 1`,
				"fossick_cluster_partitions 1024\n", "fossick_cluster_pages_total 500\n", "fossick_cluster_relevant_pages_total 200\n",
				"fossick_cluster_queue_urls 7000\n", "fossick_cluster_pages_per_second 12.5\n",
			} {
				if !strings.Contains(metrics, want) {
					t.Errorf("no %q in %s", want, metrics)
				}
			}
			if want := `"whole":{"agents":3,"dead":1,"partitions":1024,"fetched":500,"relevant":200,"waiting":7000,"pages_per_second":12.5}`; !strings.Contains(status, want) {
				t.Errorf("no %s in %s", want, status)
			}
		}
		if asked != 1 {
			t.Errorf("the exchange was asked %d times, want once", asked)
		}
		if err := m.Stop(); err != nil {
			t.Error(err)
		}
	}
}
