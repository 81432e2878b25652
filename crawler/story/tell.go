package story

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"fossick/crawler/fetch"
	"fossick/crawler/plan"
	"fossick/graph/orders"
	"fossick/internal/cli"
	"fossick/relevance/learned"
	"fossick/store"
	"fossick/store/change"
)

// tell turns a URL's records into a story.
func tell(l *store.Life, place string) *Story {
	r := &Story{
		URL: l.URL, State: "none", Via: l.Via, Depth: l.Depth,
		Times: times{Found: at(l.At)}, Score: Score{Terms: []store.Term{}}, Visits: []visit{}, place: place,
	}
	if l.FoundBy != "" {
		r.FoundBy = &l.FoundBy
	}
	for _, v := range l.Visits {
		r.Visits = append(r.Visits, visit{at(v.Start), float64(v.Millis) / 1000, v.State, v.Code, v.Error, waitOf(v.Wait), v.File})
	}
	r.Reasons = append(r.Reasons, discovery(l))
	r.tellQueue(l)
	for _, v := range r.Visits {
		r.Reasons = append(append(r.Reasons, v.Wait.tell("was")...), tellFile(v.file)...)
	}
	r.tellPage(l)
	r.tellMark(l)
	r.tellRefresh(l)
	return r
}

func discovery(l *store.Life) string {
	by := cmp.Or(l.FoundBy, "a page that the damaged store has lost")
	switch l.Via {
	case store.ViaSeed:
		return "it is a start page"
	case store.ViaRedirect:
		return "a redirect of " + by + " led to it"
	case store.ViaAgent:
		return "another agent of the crawl sent its URL"
	case store.ViaSitemap:
		return discoveryBySitemap(l)
	}
	return cli.Sprintf("found by a link of %s, %d links from a start page", by, l.Depth)
}

// discoveryBySitemap names the sitemap, and its date for the page.
func discoveryBySitemap(l *store.Life) string {
	found := "found by the sitemap " + cmp.Or(l.FoundBy, "of "+l.AtHost)
	if l.Modified != 0 {
		found += ", which says that it was changed on " + time.Unix(l.Modified, 0).UTC().Format(time.DateOnly)
	}
	return found
}

// placeOf explains the priority of a URL in its crawl's order.
func placeOf(l *store.Life, info store.Info) string {
	var settings struct{ Order string } // of plan.Settings
	if err := json.Unmarshal(info.Settings, &settings); l.Queued == nil || len(info.Settings) > 0 && err != nil {
		return ""
	}
	return orders.Tell(settings.Order, l.Queued.Priority, l.Queued.Also)
}

func (r *Story) tellQueue(l *store.Life) {
	switch {
	case l.Queued != nil:
		r.Score.Value, r.priority = &l.Queued.Score, l.Queued.Priority
		why := "it waits in the queue with " + r.place
		if l.Parent != "" {
			why += " from its best parent " + l.Parent
		}
		r.Reasons = append(r.Reasons, why)
	case l.Outcome != nil:
		r.State = l.Outcome.State
		ended := at(l.Outcome.At)
		r.Times.Ended = &ended
		r.Score.Value = &l.Outcome.Score
		if l.Parent != "" && len(r.Visits) > 0 {
			r.Reasons = append(r.Reasons, fmt.Sprintf("enqueued: its best link is on %s; it left the queue with score %.4g", l.Parent, l.Outcome.Score))
		}
		if len(r.Visits) == 0 {
			r.Reasons = append(r.Reasons, "skipped: "+l.Outcome.Reason)
		} else if l.Outcome.Reason != "" {
			r.Reasons = append(r.Reasons, l.Outcome.State+": "+l.Outcome.Reason+original(l))
		}
		if did := l.Outcome.Rendering; did != nil && !strings.Contains(l.Outcome.Reason, did.String()) {
			r.Reasons = append(r.Reasons, did.String())
		}
	}
}

// original names the page that a duplicate repeats.
func original(l *store.Life) string {
	if l.Outcome.State != string(fetch.StateDuplicate) || l.Page == nil {
		return ""
	}
	return ": " + l.Page.URL
}

// spell returns all terms of a page's score.
func spell(p *store.Page) ([]store.Term, error) {
	terms, err := learned.Spell(p.Account)
	return append(p.Terms, plan.Terms(terms)...), err
}

func (r *Story) tellPage(l *store.Life) {
	p := l.Page
	if p == nil || l.Outcome.State != "ok" {
		return
	}
	fetched := at(p.At)
	r.Times.Fetched = &fetched
	r.Title, r.Page = &p.Title, &p.Number
	terms, err := spell(p)
	if err != nil {
		r.Reasons = append(r.Reasons, "part of its score cannot be explained: "+err.Error())
	}
	r.Score = Score{&p.Score, terms}
	if p.Rendering != nil {
		r.Reasons = append(r.Reasons, p.Rendering.String())
	}
	if p.Label != "" {
		r.Label = &p.Label
		why := fmt.Sprintf("the crawl's model labelled it %s (%.3f)", p.Label, p.Probability)
		if p.Rule != "" { // missing in stores of earlier builds
			r.Rule = &p.Rule
			why += ": " + p.Rule
		}
		r.Reasons = append(r.Reasons, why)
	}
	if l.Label == nil {
		return
	}
	r.Label, r.Rule, r.Kept = &l.Label.Label, &l.Label.Rule, &l.Label.Kept
	verdict := "dropped"
	if l.Label.Kept {
		verdict = "kept"
	}
	r.Reasons = append(r.Reasons, fmt.Sprintf("%s by refine: probability of the topic %.3f; %s", verdict, l.Label.Score, l.Label.Rule))
}

// whatChanged describes a change as far as known.
func whatChanged(v store.Visit) string {
	switch {
	case v.Change == change.Text:
		return ", the main text too"
	case v.Change == change.Content:
		return ", but the main text had not"
	case len(v.Was) > 0:
		return fmt.Sprintf(": the checksum was %x before", v.Was)
	}
	return ""
}

// tellRefresh adds the results of later visits to a stored page.
func (r *Story) tellRefresh(l *store.Life) {
	if l.Page == nil {
		return
	}
	for _, v := range l.Visits {
		if len(v.Was) > 0 || v.Change.Changed() {
			r.Reasons = append(r.Reasons, fmt.Sprintf("its content had changed by %s%s", at(v.Start).Format(time.DateTime), whatChanged(v)))
		}
	}
	if l.Outcome != nil && l.Outcome.Stored {
		r.Page, r.Title = &l.Page.Number, &l.Page.Title
		r.Reasons = append(r.Reasons, fmt.Sprintf("page %d is stored in its version of %s", l.Page.Number, at(l.Page.Seen()).Format(time.DateTime)))
	} else if l.Outcome != nil && l.Outcome.State == "ok" && l.Page.Checked != 0 {
		r.Reasons = append(r.Reasons, "it was still the same on "+at(l.Page.Checked).Format(time.DateTime))
	}
}
