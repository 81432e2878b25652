package monitor

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

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
