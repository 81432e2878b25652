package story

import (
	"fmt"
	"math"
	"time"

	"fossick/internal/report"
	"fossick/internal/terminal"
	"fossick/store"
)

// Wait is a wait for better links that a URL had part in.
type Wait struct {
	Since   time.Time `json:"since"`
	Seconds float64   `json:"seconds"`
	Refused bool      `json:"refused"` // it was free and left; else it was waited for
	Price   *float64  `json:"price"`   // priority that a link needed to be taken
	Best    *float64  `json:"best"`    // of what was waited for; null where only other agents had it
	Free    *float64  `json:"free"`    // of what was free
	Hosts   int       `json:"hosts"`   // with links worth the price, when it was refused; 0 where only other agents had them

	kept store.Wait
}

// Price is what a link must promise to be taken by a crawl that is running.
type Price struct {
	Value    *float64 `json:"value"`    // null for any
	Priority float64  `json:"priority"` // of the URL
	Below    bool     `json:"below"`    // it is left for better ones
	Wait     *Wait    `json:"wait"`     // that it had part in so far
}

func waitOf(w *store.Wait) *Wait {
	if w == nil {
		return nil
	}
	r := &Wait{Since: at(w.Since), Seconds: float64(w.Millis) / 1000, Refused: w.Refused, Price: finite(w.Price), Best: finite(w.Best), Free: finite(w.Free), Hosts: w.Hosts, kept: *w}
	if r.elsewhere() {
		r.Best = nil
	}
	return r
}

// finite is null for what is no number of JSON's.
func finite(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}

// elsewhere says that the better links were other agents'.
func (w *Wait) elsewhere() bool { return w.Refused && w.Hosts == 0 }

// tell says when the crawl waited, and for what; be is was, or is while it still does.
func (w *Wait) tell(be string) []string {
	if w == nil {
		return nil
	}
	k, since, long := &w.kept, w.Since.Format(time.TimeOnly), terminal.Brief(time.Duration(w.Seconds*float64(time.Second)))
	if !w.Refused {
		return []string{fmt.Sprintf("the crawl waited %s from %s on for it or an equally good link: its priority of %.3g was at least the price of %.3g, and the best free link had %.3g",
			long, since, k.Best, k.Price, k.Free)}
	}
	better := fmt.Sprintf("at %s, the best with %.3g", report.Count(w.Hosts, "host"), k.Best)
	if w.elsewhere() {
		better = "with other agents"
	}
	return []string{fmt.Sprintf("it %s free from %s on, and the crawl held it back for %s: its priority of %.3g was below the price of %.3g, because better links waited %s",
		be, since, long, k.Free, k.Price, better)}
}

// Standing says how a URL of the queue stands to the price of a crawl that is running: of
// links below it none is taken. wait is what the URL had part in so far.
func (r *Story) Standing(price float64, wait *store.Wait) {
	if r.State != "none" || r.Times.Ended != nil || r.Score.Value == nil {
		return
	}
	p := &Price{Priority: r.priority, Wait: waitOf(wait)}
	if r.Now != nil && r.Now.Value != nil {
		p.Priority = *r.Now.Value
	}
	r.Price = p
	if !math.IsInf(price, 0) {
		p.Value, p.Below = &price, p.Priority < price
	}
	r.Reasons = append(r.Reasons, p.Wait.tell("is")...)
	switch {
	case p.Below:
		why := fmt.Sprintf("the crawl waits for better links: its priority of %.3g is below the price of %.3g now", p.Priority, price)
		r.Reasons = append(r.Reasons, why)
		r.Verdict = verdictWaiting + " in the queue: " + why + "."
	case p.Value != nil:
		r.Reasons = append(r.Reasons, fmt.Sprintf("its priority of %.3g is at least the price of %.3g now: it is fetched in its turn, when its host is free", p.Priority, price))
	}
}
