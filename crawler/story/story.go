package story

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"fossick/internal/cli"
	"fossick/internal/page"
	"fossick/store"
)

// Story is the account of one URL, in its JSON form.
type Story struct {
	URL     string    `json:"url"`
	Verdict string    `json:"verdict"` // outcome and main reason, in a sentence
	State   string    `json:"state"`
	FoundBy *string   `json:"found_by"` // null for a start page
	Via     store.Via `json:"via"`
	Depth   int       `json:"depth"`
	Score   Score     `json:"score"`
	Times   times     `json:"times"`
	Label   *string   `json:"label"`
	Rule    *string   `json:"rule"`
	Kept    *bool     `json:"kept"`
	Title   *string   `json:"title"`
	Page    *uint64   `json:"page"` // its number in the order of the crawl
	Rank    *Rank     `json:"rank"` // by fossick rank; null without a page, or when stored since
	Reasons []string  `json:"reasons"`
	Visits  []visit   `json:"visits"`
	Marked  *mark     `json:"marked"` // by a person; null when not
	Rest    *rest     `json:"rest"`   // of its host, and the cause; null when none, or the crawl's delay alone
	Now     *Score    `json:"now"`    // the running crawl's present score; null without one
	Price   *Price    `json:"price"`  // from a running crawl that waits for better links, for a queued URL; else null

	Topics []topic `json:"topics,omitempty"` // each topic's verdict, where several share the crawl

	priority float64 // in the queue, as journalled
	place    string  // the meaning of priority
	marked   string  // people's labels for topics that share the crawl, in words
}

// Score is a score with its parts.
type Score struct {
	Value *float64     `json:"value"` // R of the page; until then of the best link to it
	Terms []store.Term `json:"terms"`
}

// times are the moments of a URL's life.
type times struct {
	Found   time.Time  `json:"found"`
	Fetched *time.Time `json:"fetched"`
	Ended   *time.Time `json:"ended"`
	Next    *time.Time `json:"next"` // next useful or possible visit (paper E3); null when never, or unknown
}

// visit is one exchange for the URL.
type visit struct {
	Start   time.Time `json:"start"`
	Seconds float64   `json:"seconds"`
	State   string    `json:"state"`
	Code    int       `json:"code"`
	Error   string    `json:"error,omitempty"`
	Wait    *wait     `json:"wait,omitempty"` // for better links, before the visit

	file *store.FilePrice
}

func at(millis int64) time.Time { return time.UnixMilli(millis).UTC() }

// Of returns the story of a URL in the queue, or of one requested for a host, such as
// robots.txt or a sitemap. urls is the normal form of the store's crawl.
func Of(s *store.Store, urls *page.Normalizer, address string, now time.Time) (*Story, error) {
	u, err := Address(s, urls, address)
	if err != nil {
		return nil, cli.Usagef("%q: %w; give an http or https URL", address, err)
	}
	life, err := s.URLs().Life(u)
	if err == nil {
		r := tell(life, placeOf(life, s.Info()))
		r.Topics = topicsOf(life, s.Info().Topics)
		tellMarks(r, life, s.Info().Topics)
		h, err := s.Host(page.Host(u))
		r.tellNext(life, h, now)
		r.Verdict = verdict(life, r)
		return r, errors.Join(err, r.tellRank(s))
	}
	if !errors.Is(err, store.ErrUnknown) {
		return nil, err
	}
	r, hostErr := ofHost(s, u)
	if hostErr != nil {
		return nil, hostErr
	}
	if len(r.Visits) == 0 {
		return nil, err
	}
	r.Verdict = fmt.Sprintf("Fetched for the whole host, not as a page of the crawl: %s.", r.Reasons[0])
	return r, nil
}

// Address brings an address into the normal form of a store's URLs. Without a scheme it takes
// a known URL, https before http.
func Address(s *store.Store, urls *page.Normalizer, raw string) (string, error) {
	full, assumed := page.WithScheme(raw)
	u, err := urls.Normalize(full)
	if err != nil || !assumed {
		return u, err
	}
	if _, err := s.URLs().Life(u); errors.Is(err, store.ErrUnknown) {
		plain := "http" + strings.TrimPrefix(u, "https")
		if _, err := s.URLs().Life(plain); err == nil {
			return plain, nil
		}
	}
	return u, nil
}

// ofHost returns the exchanges with a host for one URL; without any the story has no visits.
func ofHost(s *store.Store, u string) (*Story, error) {
	r := &Story{URL: u, State: "none", Score: Score{Terms: []store.Term{}}, Visits: []visit{}}
	for x, err := range s.Exchanges(page.Host(u)) {
		if err != nil {
			return nil, err
		}
		if x.URL != u || x.For == store.ForAddress {
			continue
		}
		if len(r.Visits) == 0 {
			r.Times.Found, r.Via = at(x.Start), store.Via(x.For)
			r.Reasons = append(r.Reasons, purposeText(x))
		}
		r.State = x.State
		fetched := at(x.Start)
		r.Times.Fetched = &fetched
		r.Visits = append(r.Visits, visit{at(x.Start), float64(x.Millis) / 1000, x.State, x.Code, x.Error, nil, nil})
		for _, text := range []string{x.Note, x.Location} {
			if text != "" {
				r.Reasons = append(r.Reasons, fmt.Sprintf("%s: %s", x.State, text))
			}
		}
	}
	return r, nil
}

func purposeText(x store.HostExchange) string {
	owner := x.Host
	if x.Owner != "" {
		owner = x.Owner
	}
	switch x.For {
	case store.ForSitemap:
		return "it is a sitemap, named by robots.txt or a sitemap of " + owner
	case store.ForTDMRep:
		return "it has the reservations (tdmrep.json) of " + owner
	}
	return "it has the rules (robots.txt) of " + owner
}

// Mark is a person's label of a URL.
type mark struct {
	Label string    `json:"label"` // yes or no
	At    time.Time `json:"at"`
}

func markOf(m store.Mark) *mark {
	if m.OnTopic {
		return &mark{"yes", at(m.At)}
	}
	return &mark{"no", at(m.At)}
}

func (r *Story) tellMark(l *store.Life) {
	if l.Mark == nil {
		return
	}
	r.Marked = markOf(*l.Mark)
	r.Reasons = append(r.Reasons, fmt.Sprintf("%s at %s, which overrules the model", l.Mark, r.Marked.At.Format(time.DateTime)))
}

// tellMarks adds people's labels for the named topics that share the crawl.
func tellMarks(r *Story, l *store.Life, names []string) {
	var said []string
	for _, m := range l.Marks {
		if m.Topic > len(names) {
			continue
		}
		name, mark := names[m.Topic-1], markOf(m)
		if m.Topic <= len(r.Topics) {
			r.Topics[m.Topic-1].Marked = mark
		}
		said = append(said, fmt.Sprintf("%s for %s", mark.Label, name))
		r.Reasons = append(r.Reasons, fmt.Sprintf("for %s %s at %s, which overrules the model", name, m, mark.At.Format(time.DateTime)))
	}
	if len(said) > 0 {
		r.marked = "marked " + strings.Join(said, ", ") + " by a person"
	}
}

// Topic is one topic's verdict on a page.
type topic struct {
	Name     string  `json:"name"`
	Score    float64 `json:"score"` // of the page
	Relevant bool    `json:"relevant"`
	Expected float64 `json:"expected"`         // when it was requested
	Paid     float64 `json:"paid"`             // the topic's share of the page
	Rule     string  `json:"rule,omitempty"`   // why it is on topic
	Marked   *mark   `json:"marked,omitempty"` // by a person, for this topic
}

// topicsOf returns the verdicts of the named topics on a page.
func topicsOf(l *store.Life, names []string) (said []topic) {
	if l.Page == nil {
		return nil
	}
	for i, v := range l.Page.Topics {
		if i < len(names) {
			said = append(said, topic{Name: names[i], Score: v.Score, Relevant: v.Relevant, Expected: v.Expected, Paid: v.Paid, Rule: v.Rule})
		}
	}
	return said
}

func printTopics(w io.Writer, topics []topic) {
	for _, t := range topics {
		cli.Fprintf(w, "  topic    %-20s %.4f, expected %.4f, paid %.2f", t.Name, t.Score, t.Expected, t.Paid)
		if t.Relevant {
			io.WriteString(w, ": ")
			cli.Fprint(w, "on topic", cli.Green)
		}
		switch {
		case t.Marked != nil:
			cli.Fprintf(w, ", marked %s by a person", t.Marked.Label)
		case t.Relevant && t.Rule != "":
			cli.Fprintf(w, ", for %s", mainReason(t.Rule))
		}
		io.WriteString(w, "\n")
	}
}
