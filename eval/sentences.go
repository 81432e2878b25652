package eval

import (
	"fmt"
	"strconv"
	"strings"
)

// Sentences says the figures in plain words, the most important first.
func Sentences(r Result) []string {
	if r.Fetched == 0 {
		return []string{fmt.Sprintf("The crawl in %s has fetched no page yet.", r.Store)}
	}
	out := []string{harvestSentence(r.Figures)}
	for _, s := range []string{
		unknownSentence(r.Figures), keptSentence(r.Figures), recallSentence(r.Figures),
		searchSentence(r.Figures), overlapSentence(r), estimateSentence(r.Figures),
	} {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

func harvestSentence(f Figures) string {
	by := map[Kind]string{
		ByTruth: ", by the truth",
		ByJudge: ", by the judge",
		ByCrawl: ", by the crawl's own labels (name --truth or --judge for a second opinion)",
	}[f.Relevance]
	return fmt.Sprintf("Of %s fetched, %s %s %s (%s, 95 %% interval %s)%s.", pages(f.Fetched), number(f.Relevant),
		isAre(f.Relevant), about(f.Target), percent(*f.Harvest), span(*f.HarvestCI), by)
}

func unknownSentence(f Figures) string {
	if f.Unknown == nil || *f.Unknown == 0 {
		return ""
	}
	return fmt.Sprintf("The %s knows nothing of %s, which count as off topic.", f.Relevance, pages(*f.Unknown))
}

func keptSentence(f Figures) string {
	switch {
	case f.Kept == nil:
		return ""
	case f.Kept.Pages == 0:
		return "Refinement kept no page."
	}
	if f.Relevance == ByCrawl { // to measure one by the other would say nothing of either
		return fmt.Sprintf("Refinement kept %s (%s).", pages(f.Kept.Pages), percent(float64(f.Kept.Pages)/float64(f.Fetched)))
	}
	moved := "rose"
	if *f.HarvestAfter < *f.HarvestBefore {
		moved = "fell"
	}
	s := fmt.Sprintf("Refinement kept %s, of which %s %s %s: the share %s from %s to %s", pages(f.Kept.Pages), number(f.Kept.Relevant),
		isAre(f.Kept.Relevant), about(f.Target), moved, percent(*f.HarvestBefore), percent(*f.HarvestAfter))
	if f.Kept.Recall != nil {
		s += fmt.Sprintf(", and %s of the relevant pages fetched were kept (F1 %.2f)", percent(*f.Kept.Recall), *f.Kept.F1)
	}
	return s + "."
}

func recallSentence(f Figures) string {
	if f.Recall == nil {
		return ""
	}
	return fmt.Sprintf("The truth names %s %s; the crawl found %s of them (%s).",
		pages(*f.Targets), about(f.Target), number(f.Relevant), percent(*f.Recall))
}

func searchSentence(f Figures) string {
	switch {
	case f.SearchLength != nil:
		return fmt.Sprintf("It had found all of them after %s (search length), half after %s.",
			pages(*f.SearchLength), number(*f.SearchLength50))
	case f.SearchLength90 != nil:
		return fmt.Sprintf("It had found half of them after %s and 90 %% after %s.", pages(*f.SearchLength50), number(*f.SearchLength90))
	case f.SearchLength50 != nil:
		return fmt.Sprintf("It had found half of them after %s.", pages(*f.SearchLength50))
	}
	return ""
}

func overlapSentence(r Result) string {
	if len(r.Overlap) == 0 {
		return ""
	}
	last := r.Overlap[len(r.Overlap)-1]
	if len(r.Stores) == 2 {
		return fmt.Sprintf("After %s each, the two crawls had %s of them in common.", pages(last.Pages), percent(last.Share))
	}
	return fmt.Sprintf("After %s each, two of the %d crawls had %s of them in common, in the mean of all pairs.",
		pages(last.Pages), len(r.Stores), percent(last.Share))
}

func estimateSentence(f Figures) string {
	e := f.RecallEstimate
	if e == nil {
		return ""
	}
	return fmt.Sprintf("By capture–recapture, %s, the crawl found %s of what is there (%s), all crawls together %s; an upper estimate: %s.",
		e.Method, percent(e.Value), span(e.CI), percent(e.Together), e.Caution)
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

func pages(n int) string {
	if n == 1 {
		return "1 page"
	}
	return number(n) + " pages"
}

// number groups thousands with a comma.
func number(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// percent prints a share; a small one with a place more, and never a share
// above 0 as 0 % or one below 1 as 100 %.
func percent(x float64) string {
	switch {
	case x <= 0 || x >= 1:
		return fmt.Sprintf("%.0f %%", 100*x)
	case x < 0.1, x > 0.99:
		return fmt.Sprintf("%.1f %%", min(max(100*x, 0.1), 99.9))
	}
	return fmt.Sprintf("%.0f %%", 100*x)
}

// span prints an interval of shares: 56–79 %.
func span(ci Interval) string {
	return strings.TrimSuffix(percent(ci[0]), " %") + "–" + percent(ci[1])
}
