package plan

import (
	"cmp"
	"time"

	"fossick/crawler/crawlplan"
	"fossick/eval/lab"
	"fossick/internal/usage"
)

// Manners of a crawl with --polite that nobody asked for otherwise.
const (
	defaultWorkers = 32 // as of focus
	defaultLatency = 100 * time.Millisecond
)

// manners are those of the crawls, nil without --polite.
func (p *Plan) manners() (*lab.Manners, error) {
	if !p.Polite {
		if p.Workers != 0 || p.Delay != "" || p.Latency != nil || p.MaxTime != 0 || p.Patience != "" {
			return nil, usage.Errorf("--workers, --delay, --latency, --max-time and --patience work only with --polite; add it")
		}
		return nil, nil
	}
	m := &lab.Manners{Workers: cmp.Or(p.Workers, defaultWorkers), Latency: defaultLatency}
	if p.Latency != nil {
		m.Latency = *p.Latency
	}
	if m.Workers < 1 || m.Latency < 0 {
		return nil, usage.Errorf("--workers %d, --latency %s: want at least 1 worker, and no negative time", m.Workers, m.Latency)
	}
	if m.MaxTime = p.MaxTime; m.MaxTime < 0 {
		return nil, usage.Errorf("--max-time %s: want a time, such as 30s or 10m", m.MaxTime)
	}
	var err error
	if m.Delay, err = crawlplan.ParseDelay(p.Delay); err != nil {
		return nil, err
	}
	m.Patience, err = crawlplan.ParsePatience(p.Patience)
	return m, err
}

// mannersResult is what a result says of them.
func (p *Plan) mannersResult(m *lab.Manners) *lab.MannersResult {
	if m == nil {
		return nil
	}
	return &lab.MannersResult{Patience: cmp.Or(p.Patience, "auto"), MaxTime: m.MaxTime.Seconds(), Workers: m.Workers, Delay: cmp.Or(p.Delay, "auto"), Latency: m.Latency.Seconds()}
}
