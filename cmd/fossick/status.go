package main

import (
	"fmt"
	"time"

	"fossick/crawler"
	"fossick/internal/terminal"
	"fossick/report"
)

// status is what a person sees while a crawl goes on: on a terminal one line
// that is written over, else a line every ten seconds.
type status struct {
	a        *app
	maxPages uint64
	maxTime  time.Duration

	recent []sample // of the last seconds, for the speed
	left   terminal.Left
}

type sample struct {
	at    time.Duration
	pages uint64
}

const (
	plainEvery  = 10 * time.Second
	speedWindow = 10 * time.Second
	// restMin is the shortest wait that the status line speaks of: hosts rest for
	// moments all the time.
	restMin = time.Second
)

func newStatus(a *app, p *plan) *status {
	return &status{a: a, maxPages: p.crawl.MaxPages, maxTime: p.crawl.MaxTime}
}

// begin tells what the crawl starts from.
func (s *status) begin(resume bool, p crawler.Progress) {
	if resume {
		s.a.say("resuming: %d pages stored (%d on topic), %d URLs wait on %d hosts",
			p.Counts.Pages, p.Counts.Relevant, p.Queue, p.Hosts)
		return
	}
	s.a.say("starting from %s; Ctrl-C stops cleanly", report.Pages(p.Queue))
}

// show is called twice a second.
func (s *status) show(p crawler.Progress) {
	s.a.screen.Show(plainEvery, s.parts(p, time.Now())...)
}

// end leaves the line as it stands and goes to the next.
func (s *status) end() { s.a.screen.Keep() }

// parts is the line; where it is too long, what ranks highest goes first.
func (s *status) parts(p crawler.Progress, now time.Time) []terminal.Part {
	n := p.Counts
	parts := []terminal.Part{{Text: fmt.Sprintf("%d/%d pages", n.Pages, s.maxPages)}}
	add := func(rank int, format string, args ...any) {
		parts = append(parts, terminal.Part{Text: fmt.Sprintf(format, args...), Rank: rank})
	}
	if n.Pages > 0 {
		add(2, "%d on topic (%s)", n.Relevant, report.Percent(float64(n.Relevant)/float64(n.Pages)))
	}
	if m := p.Next; m.Pages > 0 && uint64(m.Pages) < n.Pages {
		add(5, "%s of the last %d", report.Percent(m.Harvest), m.Pages)
	}
	parts = append(parts, standstill(p, now))
	if speed := s.speed(p); speed > 0 {
		add(4, "%.1f pages/s", speed)
	}
	if left, known := s.timeLeft(p); known {
		add(3, "%s left", terminal.Duration(left))
	}
	add(6, "queue %d", p.Queue)
	add(7, "%s", counting(p.Hosts, "host"))
	return parts
}

// standstill says why nothing happens, when nothing does.
func standstill(p crawler.Progress, now time.Time) terminal.Part {
	rest := p.RestUntil.Sub(now)
	switch {
	case !p.DownSince.IsZero():
		return terminal.Part{Rank: 1, Style: terminal.Red,
			Text: "waiting: own network seems down since " + p.DownSince.Local().Format(time.TimeOnly)}
	case p.RestUntil.IsZero() || rest < restMin:
		return terminal.Part{}
	case p.Resting == 0: // after a resumption all do, known or not
		return terminal.Part{Rank: 1, Style: terminal.Yellow, Text: "waiting: all hosts rest, next in " + terminal.Duration(rest)}
	}
	hosts := counting(p.Resting, "host") + " rest"
	if p.Resting == 1 {
		hosts = "the only host rests"
	}
	return terminal.Part{Rank: 1, Style: terminal.Yellow, Text: "waiting: " + hosts + ", next in " + terminal.Duration(rest)}
}

// counting writes a number of things: 1 host, 2 hosts.
func counting(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// speed is pages a second over the last seconds.
func (s *status) speed(p crawler.Progress) float64 {
	s.recent = append(s.recent, sample{p.Elapsed, p.Pages})
	for len(s.recent) > 2 && p.Elapsed-s.recent[0].at > speedWindow {
		s.recent = s.recent[1:]
	}
	first := s.recent[0]
	if first.at == p.Elapsed {
		first = sample{}
	}
	if took := (p.Elapsed - first.at).Seconds(); took > 0 {
		return float64(p.Pages-first.pages) / took
	}
	return 0
}

// timeLeft estimates the time to the nearest limit; false when that is not known.
func (s *status) timeLeft(p crawler.Progress) (time.Duration, bool) {
	before := p.Counts.Pages - p.Pages // of earlier sessions
	left, known := s.left.After(p.Elapsed, float64(p.Pages), float64(s.maxPages)-float64(before))
	known = known && p.Counts.Pages < s.maxPages
	if s.maxTime > 0 {
		if rest := max(0, s.maxTime-p.Elapsed); !known || rest < left {
			left, known = rest, true
		}
	}
	return left, known
}
