package eval

import (
	"fmt"
	"strings"

	"fossick/internal/printable"
	"fossick/internal/report"
)

// Sentences says the figures in plain words, the most important first.
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

// verdict says in one sentence how much of a crawl is on topic, beside what the figure is to be
// compared with: the other crawls, or pages at random. None without pages.
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
	by := map[Kind]string{
		ByTruth: ", by the truth",
		ByJudge: ", by the judge",
		ByCrawl: ", by the crawl's own labels (give --truth or --judge for a second opinion)",
	}[f.Relevance]
	return fmt.Sprintf("Of %s fetched, %s %s %s (%s, %s)%s.", report.Pages(f.Fetched), report.Number(f.Relevant),
		isAre(f.Relevant), about(f.Target), report.Percent(*f.Harvest), f.HarvestCI.words(), by)
}

// judgeSentence says so when the judge is a party to the case.
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

// unjudged stands where precision, recall and F1 of a refined crawl are not known.
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
	return printable.Sprintf("After %s each, two of the %d crawls had %s of them in common, on average over all pairs%s.",
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

func nextSentence(n *Next) string {
	if n == nil {
		return ""
	}
	return printable.Sprintf("%s of the last %d pages were on topic: expect about %s of the next 1,000, and at most %s of them (99 %% confidence).",
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
