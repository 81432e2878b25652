package main

import (
	"fmt"
	"strings"
	"time"

	"golang.org/x/term"
	"os"

	"fossick/crawler"
	"fossick/report"
)

// status is what a person sees while a crawl goes on: on a terminal one line
// that is written over, else a line every ten seconds.
type status struct {
	a        *app
	maxPages uint64
	maxTime  time.Duration

	width   int // of what stands on the line now
	last    time.Time
	recent  []sample // of the last seconds, for the speed
	resumed uint64   // pages that were there at the start
}

type sample struct {
	at    time.Duration
	pages uint64
}

const (
	plainEvery  = 10 * time.Second
	speedWindow = 10 * time.Second
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
	if s.a.quiet {
		return
	}
	text := s.text(p)
	if !s.a.terminal {
		if now := time.Now(); now.Sub(s.last) >= plainEvery {
			s.last = now
			fmt.Fprintln(s.a.stderr, text)
		}
		return
	}
	if f, ok := s.a.stderr.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && len([]rune(text)) >= columns {
			text = string([]rune(text)[:max(0, columns-1)])
		}
	}
	width := len([]rune(text))
	fmt.Fprintf(s.a.stderr, "\r%s%s", text, strings.Repeat(" ", max(0, s.width-width)))
	s.width = width
}

// end leaves the line as it stands and goes to the next.
func (s *status) end() {
	if s.width > 0 {
		fmt.Fprintln(s.a.stderr)
	}
}

func (s *status) text(p crawler.Progress) string {
	speed := s.speed(p)
	var b strings.Builder
	fmt.Fprintf(&b, "%d/%d pages", p.Counts.Pages, s.maxPages)
	if p.Counts.Pages > 0 {
		fmt.Fprintf(&b, " · %d on topic (%.0f %%)", p.Counts.Relevant, 100*float64(p.Counts.Relevant)/float64(p.Counts.Pages))
	}
	if n := p.Next; uint64(n.Pages) < p.Counts.Pages {
		fmt.Fprintf(&b, ", of the last %d %.0f %%", n.Pages, 100*n.Harvest)
	}
	fmt.Fprintf(&b, " · queue %d · %d hosts · %.1f pages/s", p.Queue, p.Hosts, speed)
	b.WriteString(healthText(p, time.Now()))
	if left, ok := s.left(p, speed); ok {
		fmt.Fprintf(&b, " · %s left", left.Round(time.Second))
	}
	return b.String()
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

// left estimates the time to the nearest limit.
func (s *status) left(p crawler.Progress, speed float64) (time.Duration, bool) {
	left, known := time.Duration(0), false
	if speed > 0 && s.maxPages > p.Counts.Pages {
		left, known = time.Duration(float64(s.maxPages-p.Counts.Pages)/speed*float64(time.Second)), true
	}
	if s.maxTime > 0 && (!known || s.maxTime-p.Elapsed < left) {
		left, known = max(0, s.maxTime-p.Elapsed), true
	}
	return left, known
}
