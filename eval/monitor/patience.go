package monitor

import (
	"fmt"
	"math"

	"github.com/prometheus/client_golang/prometheus"

	"fossick/crawler"
	"fossick/internal/report"
	"fossick/internal/terminal"
)

// Patience is what /status says of the waits for better links.
type Patience struct {
	Waiting bool     `json:"waiting"` // a free worker does now
	Price   *float64 `json:"price"`   // that a link must promise to be fetched; null for any
	Best    *float64 `json:"best"`    // of what waits
	Free    *float64 `json:"free"`    // best that was free
	Hosts   int      `json:"hosts"`   // with links worth the price
	Seconds float64  `json:"seconds"` // that free workers waited so, in this session
}

// patienceOf is nil where a crawl waits for none.
func patienceOf(p *crawler.Patience) *Patience {
	if p == nil {
		return nil
	}
	s := &Patience{Waiting: p.Waits, Price: finite(p.Price), Hosts: p.Hosts, Seconds: p.Held.Seconds()}
	if p.Waits {
		s.Best, s.Free = finite(p.Best), finite(p.Free)
	}
	return s
}

// finite is null for what is no number of JSON's.
func finite(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}

var (
	metricPatience = prometheus.NewDesc("fossick_patience_waits", "Whether a free worker waits for better links.", nil, nil)
	metricHeld     = prometheus.NewDesc("fossick_patience_seconds_total", "Time in which a free worker waited for better links.", nil, nil)
)

// collectPatience sends the metrics.
func collectPatience(p *crawler.Patience, send func(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string)) {
	if p == nil {
		return
	}
	waits := 0.
	if p.Waits {
		waits = 1
	}
	send(metricPatience, prometheus.GaugeValue, waits)
	send(metricHeld, prometheus.CounterValue, p.Held.Seconds())
}

// patience says for what the status line waits.
func (s *Line) patience(p crawler.Progress) terminal.Part {
	if p.Patience == nil || !p.Patience.Waits || p.Patience.Hosts == 0 {
		return terminal.Part{}
	}
	return terminal.Part{Rank: 4, Text: fmt.Sprintf("waits for better links at %s", report.Count(p.Patience.Hosts, "host"))}
}
