package eval

import (
	"fmt"
	"strings"

	"fossick/internal/cli"
	"fossick/internal/report"
)

// Sentences describes the figures in words, the most important first.
func Sentences(r Result) []string {
	out := versusSentences(r)
	if r.Fetched == 0 {
		return append(out, fmt.Sprintf("The crawl in %s has fetched no page yet.", r.Store))
	}
	out = append(out, harvestSentence(r.Figures))
	for _, s := range []string{
		topicsSentence(r.Figures), judgeSentence(r.Figures), unknownSentence(r.Figures), scriptSentence(r.Figures), keptSentence(r.Figures), recallSentence(r.Figures),
		searchSentence(r.Figures), rankedSentence(r.Figures), reachSentence(r.Figures), driftSentence(r.Drift), nextSentence(r.Next),
		overlapSentence(r), estimateSentence(r.Figures),
	} {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// verdict states harvest and baseline: the other crawls, or random pages. Empty without pages.
func verdict(r Result) []string {
	if r.Fetched == 0 {
		return nil
	}
	s := report.Percent(*r.Harvest) + " " + about(r.Target)
	switch {
	case r.Versus != nil:
		var others []string
		for _, f := range r.Stores[1:] {
			others = append(others, f.Store+" has "+report.Share(f.Harvest))
		}
		s = r.Store + ": " + s + "; " + strings.Join(others, ", ")
	case r.Base != nil:
		s += "; pages at random would have " + report.Percent(*r.Base)
	default:
		s += "; for a figure to compare with, give --truth, or a second store, such as one of --order bfs"
	}
	return []string{s + "."}
}

func harvestSentence(f Figures) string {
	by := map[sourceKind]string{
		byLabels:    ", by the truth",
		byModel:     ", by the judge",
		byOwnLabels: ", by the crawl's own labels (give --truth or --judge for a second opinion)",
	}[f.Relevance]
	return fmt.Sprintf("Of %s fetched, %s %s %s (%s, %s)%s.", report.Pages(f.Fetched), report.Number(f.Relevant),
		isAre(f.Relevant), about(f.Target), report.Percent(*f.Harvest), f.HarvestCI.words(), by)
}

func judgeSentence(f Figures) string {
	s := ""
	if f.JudgeOwn != "" {
		s = fmt.Sprintf("The judge is the model that %s, so it agrees with itself: give a --judge trained on other data.", f.JudgeOwn)
	}
	if t := f.JudgeTrained; t != nil && *t > 0 {
		if s != "" {
			s += " "
		}
		s += fmt.Sprintf("It was trained on %s of these pages and knows their labels, so the figures are too good.", report.Percent(*t))
		if f.JudgeOwn == "" {
			s = "The judge" + s[len("It"):]
		}
	}
	return s
}

func unknownSentence(f Figures) string {
	if f.Unknown == nil || *f.Unknown == 0 {
		return ""
	}
	return fmt.Sprintf("The %s has no label for %s, which count as off topic.", f.Relevance, report.Pages(*f.Unknown))
}

func scriptSentence(f Figures) string {
	if f.ScriptOnly == 0 {
		return ""
	}
	return report.ScriptOnly(int(f.ScriptOnly)) + "."
}

// unjudged replaces precision, recall and F1 of a refined crawl when they are unknown.
const unjudged = "The number of them on topic is not known, because only the crawl's own models have labelled them: give --truth, or --judge with a model trained on other pages."

func keptSentence(f Figures) string {
	switch {
	case f.Kept == nil:
		return ""
	case f.Kept.Pages == 0:
		return "Refinement kept no page."
	}
	if f.HarvestAfter == nil {
		return fmt.Sprintf("Refinement kept %s (%s). %s", report.Pages(f.Kept.Pages), report.Percent(float64(f.Kept.Pages)/float64(f.Fetched)), unjudged)
	}
	moved := "rose"
	if *f.HarvestAfter < *f.HarvestBefore {
		moved = "fell"
	}
	s := fmt.Sprintf("Refinement kept %s, of which %s %s %s: the share %s from %s to %s", report.Pages(f.Kept.Pages), report.Number(f.Kept.Relevant),
		isAre(f.Kept.Relevant), about(f.Target), moved, report.Percent(*f.HarvestBefore), report.Percent(*f.HarvestAfter))
	if f.Kept.Recall != nil {
		s += fmt.Sprintf(", and %s of the relevant pages fetched were kept (F1 %.2f)", report.Percent(*f.Kept.Recall), *f.Kept.F1)
	}
	return s + "."
}

func recallSentence(f Figures) string {
	if f.Recall == nil {
		return ""
	}
	after := ""
	if f.RecallKept != nil {
		after = fmt.Sprintf(", and refinement left %s (%s)", report.Number(f.Kept.Relevant), report.Percent(*f.RecallKept))
	}
	return fmt.Sprintf("The truth names %s %s; the crawl found %s of them (%s)%s.",
		report.Pages(*f.Targets), about(f.Target), report.Number(f.Relevant), report.Percent(*f.Recall), after)
}

func searchSentence(f Figures) string {
	switch {
	case f.SearchLength != nil:
		return fmt.Sprintf("It had found all of them after %s (search length), half after %s.",
			report.Pages(*f.SearchLength), report.Number(*f.SearchLength50))
	case f.SearchLength90 != nil:
		return fmt.Sprintf("It had found half of them after %s and 90 %% after %s.", report.Pages(*f.SearchLength50), report.Number(*f.SearchLength90))
	case f.SearchLength50 != nil:
		return fmt.Sprintf("It had found half of them after %s.", report.Pages(*f.SearchLength50))
	}
	return ""
}

func overlapSentence(r Result) string {
	if len(r.Overlap) == 0 {
		return ""
	}
	last, kept := r.Overlap[len(r.Overlap)-1], ""
	if n := len(r.OverlapKept); n > 0 {
		last := r.OverlapKept[n-1]
		kept = fmt.Sprintf("; of the first %s that refinement kept, %s", report.Pages(last.Pages), report.Percent(last.Share))
	}
	if len(r.Stores) == 2 {
		return fmt.Sprintf("After %s each, the two crawls had %s of them in common%s.", report.Pages(last.Pages), report.Percent(last.Share), kept)
	}
	return cli.Sprintf("After %s each, two of the %d crawls had %s of them in common, on average over all pairs%s.",
		report.Pages(last.Pages), len(r.Stores), report.Percent(last.Share), kept)
}

func estimateSentence(f Figures) string {
	e := f.RecallEstimate
	if e == nil {
		return ""
	}
	if e.Upper() {
		return fmt.Sprintf("By capture–recapture, %s, the crawl found %s of the pages on topic (%s), all crawls together %s. This estimate is an upper limit: %s.",
			e.Method, report.Percent(e.Value), report.Span(e.CI), report.Percent(e.Together), e.Caution)
	}
	return fmt.Sprintf("The crawl found an estimated %s of the on-topic pages that links can reach (95 %% interval %s), all crawls together %s. The estimate uses links to pages that were not fetched: %s. Plain capture–recapture, %s, says at most %s.",
		report.Percent(e.Value), report.Span(e.CI), report.Percent(e.Together), e.Caution, e.Bound.Method, report.Percent(e.Bound.Value))
}

func nextSentence(n *NextPages) string {
	if n == nil {
		return ""
	}
	return cli.Sprintf("%s of the last %d pages were on topic: expect about %s of the next 1,000, and at most %s of them (99 %% confidence).",
		report.Percent(n.Harvest), n.Pages, report.Number(int(1000*n.Harvest+0.5)), report.Percent(n.Upper))
}

func about(target string) string {
	if target == "" {
		return "on topic"
	}
	return "about " + target
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// Sentences describes in words how the crawl treated its hosts.
func (p *Politeness) Sentences() []string {
	out := []string{"No request was made."}
	if p.Requests > 0 {
		out = []string{p.requestSentence(), p.gapSentence()}
	}
	for _, s := range []string{p.deniedSentence(), p.doorSentence(), p.busySentence(), p.slowSentence(), p.silentSentence()} {
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

func (p *Politeness) doorSentence() string {
	var parts []string
	if p.Challenges > 0 {
		parts = append(parts, fmt.Sprintf("%s ended at a challenge or block page, which fossick does not solve", some(int(p.Challenges), "URL")))
	}
	if p.Unpaid > 0 {
		parts = append(parts, fmt.Sprintf("%s asked for payment, and fossick does not pay", some(int(p.Unpaid), "URL")))
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, "; ") + "."
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

func some(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return report.Number(n) + " " + thing + "s"
}

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

type driftRow struct {
	Pages           string
	Relevant        int
	Harvest         string
	Hosts, NewHosts int
	Top             string
	Rising, Falling string
}

func driftRows(blocks []driftBlock) (rows []driftRow) {
	if len(blocks) < 2 {
		return nil // nothing to compare
	}
	for _, b := range blocks {
		var top []string
		for _, h := range b.Top {
			top = append(top, fmt.Sprintf("%s %d", report.Cut(h.Host, maxHostName), h.Relevant))
		}
		row := driftRow{
			Pages: fmt.Sprintf("%d–%d", b.From, b.To), Relevant: b.Relevant, Harvest: report.Share(b.Harvest),
			Hosts: b.Hosts, NewHosts: b.NewHosts, Top: strings.Join(top, ", "), Rising: joinWords(b.Rising), Falling: joinWords(b.Falling),
		}
		if b.CI != nil {
			row.Harvest += " (" + report.Span(*b.CI) + ")"
		}
		rows = append(rows, row)
	}
	return rows
}

// Longest names in the table, in runes.
const (
	maxHostName = 40
	maxWordRune = 24
)

func joinWords(words []driftWord) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = report.Cut(w.Word, maxWordRune)
	}
	return strings.Join(out, ", ")
}

func driftSentence(blocks []driftBlock) string {
	if len(blocks) < 2 {
		return ""
	}
	first, last := blocks[0], blocks[len(blocks)-1]
	if first.Harvest == nil || last.Harvest == nil {
		return ""
	}
	s := fmt.Sprintf("Of its first %s, %s were on topic; of its last %s, %s", report.Pages(first.To-first.From+1), report.Percent(*first.Harvest),
		report.Number(last.To-last.From+1), report.Percent(*last.Harvest))
	if len(first.Rising) > 0 && len(last.Rising) > 0 {
		s += fmt.Sprintf("; its typical words changed from “%s” to “%s”", joinWords(first.Rising[:min(3, len(first.Rising))]), joinWords(last.Rising[:min(3, len(last.Rising))]))
	}
	return s + "."
}

func reachSentence(f Figures) string {
	r := f.Reach
	if r.Hosts == 0 {
		return ""
	}
	s := fmt.Sprintf("Its pages come from %s hosts%s", report.Number(r.Hosts), effectively(r.Effective, " that have equally many pages"))
	if r.Sites != r.Hosts {
		s += fmt.Sprintf(", of %s sites", report.Number(r.Sites))
	}
	s += fmt.Sprintf("; %s have pages on topic%s", report.Number(r.Relevant), effectively(r.EffectiveRelevant, ""))
	if r.Largest != nil && r.Relevant > 1 {
		s += fmt.Sprintf(", the one with most has %s of these", report.Percent(*r.Largest))
	}
	return s + "." + cappedSentence(f)
}

func effectively(hosts *float64, with string) string {
	if hosts == nil || *hosts < 1.05 {
		return ""
	}
	return fmt.Sprintf(" (as diverse as %.1f hosts%s)", *hosts, with)
}

// cappedSentence gives the harvest under each cap on pages per host that excludes a page.
func cappedSentence(f Figures) string {
	var parts []string
	for _, c := range f.Reach.Capped {
		if c.Pages < f.Fetched {
			format := "with at most %s %s"
			if len(parts) == 0 {
				format = "with at most %s of each host it is %s"
			}
			parts = append(parts, fmt.Sprintf(format, report.Pages(c.Cap), report.Share(c.Harvest)))
		}
	}
	if len(parts) == 0 || f.Harvest == nil {
		return ""
	}
	return fmt.Sprintf(" The harvest is %s; %s.", report.Percent(*f.Harvest), strings.Join(parts, ", "))
}
