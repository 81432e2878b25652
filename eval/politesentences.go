package eval

import (
	"fmt"
	"strings"

	"fossick/internal/report"
)

// Sentences says in plain words how the hosts were treated.
func (p *Politeness) Sentences() []string {
	out := []string{"No request was made."}
	if p.Requests > 0 {
		out = []string{p.requestSentence(), p.gapSentence()}
	}
	for _, s := range []string{p.deniedSentence(), p.busySentence(), p.slowSentence(), p.silentSentence()} {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

func (p *Politeness) requestSentence() string {
	s := fmt.Sprintf("%s of %s", some(int(p.Requests), "request"), some(p.Hosts, "host"))
	if p.Parties != p.Hosts {
		s += fmt.Sprintf(" (%s, each of one address)", some(p.Parties, "machine"))
	}
	s += fmt.Sprintf(", %s of them for robots.txt", report.Number(int(p.Robots)))
	if p.Sitemaps > 0 {
		s += fmt.Sprintf(" and %s for sitemaps", report.Number(int(p.Sitemaps)))
	}
	if p.TDMRep > 0 {
		s += fmt.Sprintf(" and %s for tdmrep.json", report.Number(int(p.TDMRep)))
	}
	top := p.MostAsked[0]
	return s + fmt.Sprintf("; the median host got %s, the busiest, %s, got %s.",
		report.Number(p.MedianRequests), top.Host, report.Number(top.Requests))
}

func (p *Politeness) gapSentence() string {
	if p.Violations > 0 {
		w := p.Worst[0]
		s := fmt.Sprintf("%s came too early", some(p.Violations, "request"))
		if p.Overlaps > 0 {
			s += fmt.Sprintf(", %s of them before the previous one had ended", report.Number(p.Overlaps))
		}
		return s + fmt.Sprintf("; the worst at %s, after %s instead of %s.", w.Host, seconds(w.Seconds), seconds(w.Rest))
	}
	if p.PartyGap == nil {
		return "No host was asked twice."
	}
	return fmt.Sprintf("Every rest between two requests to a host was kept; the shortest was %s, at %s.", seconds(p.PartyGap.Seconds), p.PartyGap.Host)
}

func (p *Politeness) deniedSentence() string {
	switch {
	case p.RobotsDenied > 0 && p.NoIndex > 0:
		return fmt.Sprintf("robots.txt excluded %s; %s asked not to be kept.", some(int(p.RobotsDenied), "URL"), some(int(p.NoIndex), "page"))
	case p.RobotsDenied > 0:
		return fmt.Sprintf("robots.txt excluded %s.", some(int(p.RobotsDenied), "URL"))
	case p.NoIndex > 0:
		return fmt.Sprintf("%s asked not to be kept.", some(int(p.NoIndex), "page"))
	}
	return ""
}

func (p *Politeness) busySentence() string {
	if p.TooMany+p.Unavailable+p.RetryAfter == 0 {
		return ""
	}
	s := fmt.Sprintf("%s with code 429 and %s with 503", some(int(p.TooMany), "answer"), report.Number(int(p.Unavailable)))
	if p.RetryAfter > 0 {
		s += fmt.Sprintf("; %s said when to come again, at most %s later", report.Number(int(p.RetryAfter)), seconds(p.LongestRetry))
	}
	return s + "."
}

// slowSentence names hosts that take longer than a reader would wait for.
func (p *Politeness) slowSentence() string {
	const slow = 1 // second
	var hosts []string
	for _, h := range p.Slowest {
		if h.Median >= slow && len(hosts) < 3 {
			hosts = append(hosts, fmt.Sprintf("%s (half of its answers took %s or more, the longest %s)", h.Host, seconds(h.Median), seconds(h.Longest)))
		}
	}
	if len(hosts) == 0 {
		return ""
	}
	return "Slowest: " + strings.Join(hosts, ", ") + "."
}

func (p *Politeness) silentSentence() string {
	if p.Silent == 0 {
		return ""
	}
	var hosts []string
	for _, h := range p.SilentTop {
		if len(hosts) < 5 {
			hosts = append(hosts, h.Host)
		}
	}
	s := fmt.Sprintf("%s never answered, or had no address: %s", some(p.Silent, "host"), strings.Join(hosts, ", "))
	if p.Silent > len(hosts) {
		s += ", …"
	}
	return s + "."
}

// some counts things: 1 host, 2 hosts.
func some(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return report.Number(n) + " " + thing + "s"
}

// seconds writes a time as a reader takes it in.
func seconds(s float64) string {
	switch {
	case s < 0.001 && s > -0.001:
		return "0 s"
	case s < 1:
		return fmt.Sprintf("%.0f ms", s*1000)
	case s < 100:
		return fmt.Sprintf("%.1f s", s)
	}
	return report.Number(int(s+0.5)) + " s"
}
