package story

import (
	"errors"
	"fmt"
	"time"

	"fossick/internal/page"
	"fossick/internal/usage"
	"fossick/store"
)

// Story is what is known of a URL, as JSON has it.
type Story struct {
	URL     string    `json:"url"`
	Verdict string    `json:"verdict"` // what became of it and the main reason, in a sentence
	State   string    `json:"state"`
	FoundBy *string   `json:"found_by"` // null for a start page
	Via     store.Via `json:"via"`
	Depth   int       `json:"depth"`
	Score   Score     `json:"score"`
	Times   Times     `json:"times"`
	Label   *string   `json:"label"`
	Rule    *string   `json:"rule"`
	Kept    *bool     `json:"kept"`
	Title   *string   `json:"title"`
	Page    *uint64   `json:"page"` // its number in the order of the crawl
	Rank    *Rank     `json:"rank"` // by fossick rank; null of what is no page, or was stored since
	Reasons []string  `json:"reasons"`
	Visits  []Visit   `json:"visits"`
	Marked  *Mark     `json:"marked"` // by a person; null when nobody did
	Rest    *Rest     `json:"rest"`   // for which it waits, and who asked for that; null when none, or by the crawl's delay alone
	Now     *Score    `json:"now"`    // the present opinion of a crawl that is running; null without one
	Price   *Price    `json:"price"`  // of a crawl that is running and waits for better links, of a URL of its queue; else null

	Topics []Topic `json:"topics,omitempty"` // what each topic that shares the crawl says of the page

	priority float64 // in the queue, as journalled
	place    string  // what that stands for
	marked   string  // what people said for topics that share the crawl, in words
}

// Score is a score with its parts.
type Score struct {
	Value *float64     `json:"value"` // R of the page; of the best link to it while it has none
	Terms []store.Term `json:"terms"`
}

// Times are the moments of a URL's life.
type Times struct {
	Found   time.Time  `json:"found"`
	Fetched *time.Time `json:"fetched"`
	Ended   *time.Time `json:"ended"`
	Next    *time.Time `json:"next"` // when a visit may bring news (paper E3), or may be made; null when never, or unknown
}

// Visit is one exchange for the URL.
type Visit struct {
	Start   time.Time `json:"start"`
	Seconds float64   `json:"seconds"`
	State   string    `json:"state"`
	Code    int       `json:"code"`
	Error   string    `json:"error,omitempty"`
	Wait    *Wait     `json:"wait,omitempty"` // for better links, before it
}

func at(millis int64) time.Time { return time.UnixMilli(millis).UTC() }

// Of tells of a URL of the queue, or of one that was asked for on behalf of a host, as
// robots.txt and sitemaps are. The address is as a person writes it, urls the normal form
// that the store's crawl knows its URLs by.
func Of(s *store.Store, urls *page.Normalizer, address string, now time.Time) (*Story, error) {
	u, err := Address(s, urls, address)
	if err != nil {
		return nil, usage.Errorf("%q: %w; give an http or https URL", address, err)
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
