package story

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"fossick/crawler/fetch"
	"fossick/internal/cli"
	"fossick/store"
)

// Beginnings of verdicts.
const (
	verdictKept    = "Kept"
	verdictFetched = "Fetched"
	verdictDropped = "Dropped"
	verdictWaiting = "Waiting"
	verdictSkipped = "Not fetched"
	verdictFailed  = "Not kept"
)

// verdict states the outcome of a URL and its main reason in a sentence.
func verdict(l *store.Life, r *Story) string {
	switch {
	case l.Queued != nil:
		return verdictWaiting + " in the queue: " + waitsFor(l, r) + "."
	case l.Outcome == nil:
		return ""
	case l.Outcome.State != string(fetch.StateOK) && len(r.Visits) == 0:
		return fmt.Sprintf("%s (%s): %s.", verdictSkipped, l.Outcome.State, cmp.Or(l.Outcome.Reason, "the rules of the crawl exclude it"))
	case l.Outcome.State != string(fetch.StateOK):
		return fmt.Sprintf("%s (%s): %s.", verdictFailed, l.Outcome.State, whyFailed(l, r))
	case l.Label != nil && l.Label.Kept:
		return verdictKept + " by refine" + refined(l, r)
	case l.Label != nil:
		return verdictDropped + " by refine" + refined(l, r)
	}
	return verdictFetched + fetchedAs(l, r)
}

// style is the colour of a verdict.
func (r *Story) style() cli.Style {
	switch word, _, _ := strings.Cut(r.Verdict, " "); word {
	case verdictKept, verdictFetched:
		return cli.Green
	case verdictWaiting:
		return cli.Yellow
	case verdictDropped, "Not":
		return cli.Red
	}
	return cli.Bold
}

// waitsFor says why a queued URL was not fetched yet.
func waitsFor(l *store.Life, r *Story) string {
	if n := len(r.Reasons); r.Times.Next != nil && n > 0 {
		return r.Reasons[n-1] // the rest of its host
	}
	if l.Queued.Visits > 0 {
		return "to be tried again, with " + r.place
	}
	return "better URLs go first; it waits with " + r.place
}

// whyFailed says why a visit brought no page.
func whyFailed(l *store.Life, r *Story) string {
	last := r.Visits[len(r.Visits)-1]
	switch {
	case l.Outcome.Reason != "":
		return l.Outcome.Reason + original(l)
	case last.Error != "":
		return last.Error
	case last.Code != 0:
		return fmt.Sprintf("the server answered with %d", last.Code)
	}
	return "see the visits below"
}

// refined says how refine decided.
func refined(l *store.Life, r *Story) string {
	if l.Mark != nil {
		return fmt.Sprintf(": %s.", l.Mark)
	}
	if r.marked != "" && strings.HasPrefix(l.Label.Rule, "marked ") {
		return fmt.Sprintf(": %s.", r.marked)
	}
	evidence, bar, found := cutLast(l.Label.Rule, "; ")
	if !found {
		return ": " + mainReason(l.Label.Rule) + "."
	}
	return fmt.Sprintf(": %s, for %s.", bar, mainReason(evidence))
}

// fetchedAs says how the crawl judged a page.
func fetchedAs(l *store.Life, r *Story) string {
	p := l.Page
	switch {
	case p == nil:
		return "."
	case p.Withdrawn:
		return fmt.Sprintf(" as page %d, and withdrawn since.", p.Number)
	case l.Mark != nil:
		return fmt.Sprintf(" as page %d: %s.", p.Number, l.Mark)
	case r.marked != "":
		return fmt.Sprintf(" as page %d: %s.", p.Number, r.marked)
	case p.Label == "":
		return fmt.Sprintf(" as page %d: its relevance is %.3g.", p.Number, p.Score)
	}
	text := fmt.Sprintf(" as page %d: %s by the crawl's model (%.3g)", p.Number, p.Label, p.Probability)
	if p.Rule != "" {
		text += ", for " + mainReason(p.Rule)
	}
	return text + "."
}

// mainReason returns the heaviest evidence of a rule, without its conclusion.
func mainReason(rule string) string {
	const most = 3 // pieces of evidence, heaviest first
	rule, _, _ = strings.Cut(rule, " → ")
	parts := strings.SplitN(rule, ", ", most+1)
	return cli.Cut(strings.Join(parts[:min(most, len(parts))], ", "), 160)
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// Rank is a page's rank in the graph of links.
type Rank struct {
	Method   string   `json:"method"`
	Personal string   `json:"personal"` // label or file of the topic; "" without one
	Score    float64  `json:"score"`    // share of all nodes' PageRank, or authority
	Hub      *float64 `json:"hub"`      // for hits alone
	Nodes    int      `json:"nodes"`    // ranked together
}

// tellRank adds the page's rank, when it has one.
func (r *Story) tellRank(s *store.Store) error {
	if r.Page == nil {
		return nil
	}
	rank, ranking, err := s.Ranks().Of(*r.Page)
	if err != nil || rank == nil {
		return err
	}
	r.Rank = &Rank{Method: ranking.Method, Personal: ranking.Personal, Score: rank.Score, Nodes: ranking.Nodes}
	if ranking.Method == "hits" {
		r.Rank.Hub = &rank.Hub
	}
	return nil
}

func (r *Rank) print(w io.Writer) {
	if r == nil {
		return
	}
	cli.Fprintf(w, "  rank     %.4g by %s", r.Score, r.Method)
	if r.Personal != "" {
		cli.Fprintf(w, " from %s", cli.Cut(r.Personal, 100))
	}
	if r.Hub != nil {
		cli.Fprintf(w, ", as a hub %.4g", *r.Hub)
	}
	cli.Fprintf(w, ", of %d nodes; the mean is %.4g\n", r.Nodes, 1/float64(max(1, r.Nodes)))
}

// Print writes the story as text; all includes the lightest parts of a score.
func (r *Story) Print(w io.Writer, all bool) {
	cli.Fprintln(w, r.URL)
	if r.Verdict != "" { // missing from crawls of earlier builds
		cli.Fprint(w, r.Verdict, r.style())
		io.WriteString(w, "\n\n")
	}
	cli.Fprintf(w, "  state    %s\n", r.State)
	if r.Title != nil {
		cli.Fprintf(w, "  page     %d, %q\n", *r.Page, *r.Title)
	}
	cli.Fprintf(w, "  found    %s\n", r.Times.Found.Format(time.DateTime))
	r.Rank.print(w)
	for _, v := range r.Visits {
		cli.Fprintf(w, "  visited  %s, %.3f s, %s", v.Start.Format(time.DateTime), v.Seconds, v.State)
		if v.Code != 0 {
			cli.Fprintf(w, " (%d)", v.Code)
		}
		if v.Error != "" {
			cli.Fprintf(w, ": %s", v.Error)
		}
		io.WriteString(w, "\n")
	}
	if r.Times.Next != nil {
		cli.Fprintf(w, "  next     %s, when a visit may find a change\n", r.Times.Next.Format(time.DateTime))
	}
	if r.Score.Value != nil {
		cli.Fprintf(w, "  score    %.4f\n", *r.Score.Value)
	}
	printTerms(w, r.Score.Terms, all)
	printTopics(w, r.Topics)
	if r.Now != nil {
		cli.Fprintf(w, "  now      %.4f\n", *r.Now.Value)
		printTerms(w, r.Now.Terms, all)
	}
	for _, reason := range r.Reasons {
		cli.Fprintf(w, "  because  %s\n", reason)
	}
}

const (
	// weightiest is how many parts of a score are printed, without --all.
	weightiest = 5
	few        = 8 // up to this many are all printed
)

// sums are always printed: totals, their absence, and the degree of relevance.
var sums = []string{"probability", "expected", "explored", "start", "marked", "similarity", "R", "by R", "R of the link"}

// printTerms prints the parts of a score: all in order, or the sums and the heaviest parts.
func printTerms(w io.Writer, terms []store.Term, all bool) {
	shown, left := terms, 0
	if !all {
		shown, left = heaviest(terms)
	}
	for _, t := range shown {
		cli.Fprintf(w, "           %-20s %-8.4g %s\n", t.Name, t.Value, t.Note)
	}
	if left > 0 {
		cli.Fprintf(w, "           and %d with less weight: --all\n", left)
	}
}

// heaviest returns the terms to print and the number left out. Few terms are all printed: they
// are steps of an equation, not summands.
func heaviest(terms []store.Term) (shown []store.Term, left int) {
	var parts []store.Term
	for _, t := range terms {
		if slices.Contains(sums, t.Name) {
			shown = append(shown, t)
		} else {
			parts = append(parts, t)
		}
	}
	if len(parts) <= few {
		return terms, 0
	}
	slices.SortStableFunc(parts, func(a, b store.Term) int { return cmp.Compare(math.Abs(b.Value), math.Abs(a.Value)) })
	return append(shown, parts[:weightiest]...), len(parts) - weightiest
}
