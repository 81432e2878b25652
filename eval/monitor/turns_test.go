package monitor

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"fossick/crawler"
)

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
