package monitor

import (
	"fmt"
	"time"

	"fossick/crawler"
	"fossick/crawler/fetch"
	"fossick/internal/cli"
	"fossick/internal/report"
)

// Line is a running crawl's status line: rewritten in place on a terminal, else a new line every ten seconds.
type Line struct {
	screen   *cli.Screen
	maxPages uint64
	maxTime  time.Duration
	topics   []string // topics that share the crawl

	NoTopic bool // the crawl has no topic

	pace pace
}

// pace estimates a crawl's speed and the time left, from its progress so far.
type pace struct {
	recent []sample // of the last seconds, for the speed
	left   cli.Left
}

type sample struct {
	at    time.Duration
	pages uint64
}

const (
	plainEvery  = 10 * time.Second
	speedWindow = 10 * time.Second
	// restMin is the shortest wait that the status line mentions: hosts rest briefly all the time.
	restMin = time.Second
)

// NewLine returns a crawl's status line; maxTime 0 means no limit. topics are those that share the crawl.
func NewLine(screen *cli.Screen, maxPages uint64, maxTime time.Duration, topics ...string) *Line {
	return &Line{screen: screen, maxPages: maxPages, maxTime: maxTime, topics: topics}
}

// Beginning describes the state from which a crawl starts.
func Beginning(resume, noTopic bool, p crawler.Progress) string {
	switch {
	case resume && noTopic:
		return cli.Sprintf("resuming: %d pages stored, %d URLs wait on %d hosts", p.Counts.Pages, p.Queue, p.Hosts)
	case resume:
		return cli.Sprintf("resuming: %d pages stored (%d on topic), %d URLs wait on %d hosts",
			p.Counts.Pages, p.Counts.Relevant, p.Queue, p.Hosts)
	}
	return fmt.Sprintf("starting from %s; Ctrl-C stops cleanly", report.Pages(p.Queue))
}

// Show updates the line; call it twice a second.
func (s *Line) Show(p crawler.Progress) {
	if !p.Shared { // a person may have changed it
		s.maxPages, s.maxTime = p.MaxPages, p.MaxTime
	}
	s.screen.Show(plainEvery, s.parts(p, time.Now())...)
}

// End keeps the line and moves to the next one.
func (s *Line) End() { s.screen.Keep() }

func (s *Line) pages(n uint64) string {
	if s.maxPages == 0 {
		return cli.Sprintf("%d pages", n)
	}
	return fmt.Sprintf("%d/%d pages", n, s.maxPages)
}

// parts returns the parts of the line; a narrow terminal drops the highest ranks first.
func (s *Line) parts(p crawler.Progress, now time.Time) []cli.Part {
	n := p.Counts
	parts := []cli.Part{{Text: s.pages(n.Pages)}}
	add := func(rank int, format string, args ...any) {
		parts = append(parts, cli.Part{Text: fmt.Sprintf(format, args...), Rank: rank})
	}
	if n.Pages > 0 && !s.NoTopic {
		add(2, "%d on topic (%s)", n.Relevant, report.Percent(float64(n.Relevant)/float64(n.Pages)))
	}
	if len(s.topics) > 0 {
		add(5, "%s", lineTopics(s.topics, n))
	}
	if m := p.Next; m.Pages > 0 && uint64(m.Pages) < n.Pages {
		add(5, "%s of the last %d", report.Percent(m.Harvest), m.Pages)
	}
	if shells := n.States[string(fetch.StateScriptOnly)]; shells > 0 {
		add(6, "%d made by script", shells)
	}
	if shut := n.States[string(fetch.StateChallenge)]; shut > 0 {
		add(6, "%d behind challenges", shut)
	}
	if unpaid := n.States[string(fetch.StatePaymentRequired)]; unpaid > 0 {
		add(6, "%d for payment", unpaid)
	}
	if again := revisited(p); again != "" {
		add(2, "%s", again)
	}
	why := standstill(p, now)
	if why.Text == "" {
		why = s.patience(p)
	}
	parts = append(parts, why)
	if speed := s.pace.speed(p); speed > 0 {
		add(4, "%.1f pages/s", speed)
	}
	if left, known := s.pace.timeLeft(p, s.maxPages, s.maxTime); known {
		add(3, "%s left", cli.TimeLeft(left))
	}
	add(6, "queue %d", p.Queue)
	add(7, "%s", report.Count(p.Hosts, "host"))
	return parts
}

// revisited summarises the revisits of stored pages; "" when there are none.
func revisited(p crawler.Progress) string {
	r := p.Refreshed
	brought := fmt.Sprintf("%d visited again, %d changed, %d gone", r.Asked, r.Changed, r.Gone)
	switch {
	case p.Round > 0:
		return fmt.Sprintf("round %d: %s", p.Round, brought)
	case r.Asked > 0:
		return brought
	}
	return ""
}

func standstill(p crawler.Progress, now time.Time) cli.Part {
	rest := p.RestUntil.Sub(now)
	switch {
	case !p.DownSince.IsZero():
		return cli.Part{Rank: 1, Style: cli.Red,
			Text: "waiting: the network seems down since " + p.DownSince.Local().Format(time.TimeOnly)}
	case p.RestUntil.IsZero() || rest < restMin:
		return cli.Part{}
	case p.Resting == 0: // after a resumption all hosts rest, known or not
		return cli.Part{Rank: 1, Style: cli.Yellow, Text: "waiting: all hosts rest, next in " + cli.TimeLeft(rest)}
	}
	hosts := report.Count(p.Resting, "host") + " rest"
	if p.Resting == 1 {
		hosts = "the only host rests"
	}
	return cli.Part{Rank: 1, Style: cli.Yellow, Text: "waiting: " + hosts + ", next in " + cli.TimeLeft(rest)}
}

// speed returns pages per second over the last seconds.
func (s *pace) speed(p crawler.Progress) float64 {
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

// timeLeft estimates the time to the nearest limit; false while it is unknown.
func (s *pace) timeLeft(p crawler.Progress, maxPages uint64, maxTime time.Duration) (time.Duration, bool) {
	before := p.Counts.Pages - p.Pages // from earlier sessions
	left, known := s.left.After(p.Elapsed, float64(p.Pages), float64(maxPages)-float64(before))
	known = known && p.Counts.Pages < maxPages
	if maxTime > 0 {
		if rest := max(0, maxTime-p.Elapsed); !known || rest < left {
			left, known = rest, true
		}
	}
	return left, known
}
