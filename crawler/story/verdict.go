package story

import (
	"fmt"
	"strings"

	"fossick/crawler/fetch"
	"fossick/internal/printable"
	"fossick/internal/terminal"
	"fossick/store"
)

// How a verdict begins.
const (
	verdictKept    = "Kept"
	verdictFetched = "Fetched"
	verdictDropped = "Dropped"
	verdictWaiting = "Waiting"
	verdictSkipped = "Not fetched"
	verdictFailed  = "Not kept"
)

// verdict says in a sentence what became of a URL, and the main reason.
func verdict(l *store.Life, r *Story) string {
	switch {
	case l.Queued != nil:
		return verdictWaiting + " in the queue: " + waitsFor(l, r) + "."
	case l.Fate == nil:
		return ""
	case l.Fate.State != string(fetch.StateOK) && len(r.Visits) == 0:
		return fmt.Sprintf("%s (%s): %s.", verdictSkipped, l.Fate.State, reasonOr(l.Fate.Reason, "the rules of the crawl exclude it"))
	case l.Fate.State != string(fetch.StateOK):
		return fmt.Sprintf("%s (%s): %s.", verdictFailed, l.Fate.State, whyFailed(l, r))
	case l.Label != nil && l.Label.Kept:
		return verdictKept + " by refine" + refined(l, r)
	case l.Label != nil:
		return verdictDropped + " by refine" + refined(l, r)
	}
	return verdictFetched + fetchedAs(l, r)
}

// style is the colour of a verdict.
func (r *Story) style() terminal.Style {
	switch word, _, _ := strings.Cut(r.Verdict, " "); word {
	case verdictKept, verdictFetched:
		return terminal.Green
	case verdictWaiting:
		return terminal.Yellow
	case verdictDropped, "Not":
		return terminal.Red
	}
	return terminal.Bold
}

// waitsFor says why a URL of the queue was not fetched yet.
func waitsFor(l *store.Life, r *Story) string {
	if n := len(r.Reasons); r.Times.Next != nil && n > 0 {
		return r.Reasons[n-1] // that its host rests
	}
	if l.Queued.Visits > 0 {
		return "to be tried again, with " + r.place
	}
	return "better URLs go first; it waits with " + r.place
}

// whyFailed says why a visit gave no page.
func whyFailed(l *store.Life, r *Story) string {
	last := r.Visits[len(r.Visits)-1]
	switch {
	case l.Fate.Reason != "":
		return l.Fate.Reason + original(l)
	case last.Error != "":
		return last.Error
	case last.Code != 0:
		return fmt.Sprintf("the server answered with %d", last.Code)
	}
	return "see the visits below"
}

// refined says by what refine decided.
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

// fetchedAs says what the crawl thought of a page.
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

// mainReason is the heaviest evidence of a rule that fired, without its conclusion.
func mainReason(rule string) string {
	const most = 3 // pieces of evidence; the weightiest come first
	rule, _, _ = strings.Cut(rule, " → ")
	parts := strings.SplitN(rule, ", ", most+1)
	return printable.Cut(strings.Join(parts[:min(most, len(parts))], ", "), 160)
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

func reasonOr(reason, other string) string {
	if reason == "" {
		return other
	}
	return reason
}
