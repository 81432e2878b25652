package collection

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"fossick/internal/page"
	"fossick/internal/rights"
	"fossick/store"
)

// Choice says which pages are wanted; the zero value wants all. What several fields ask
// for must all hold.
type Choice struct {
	Labels   []string       // one of these
	MinScore *float64       // the least score of the crawl
	Kept     bool           // kept by refine
	Langs    []string       // one of these, as page.LangCode has them; not pages of unknown language
	Hosts    []string       // on one of these: names, or name:port
	Include  *regexp.Regexp // that the URL matches
	Since    time.Time      // fetched at this time or later
	Limit    int            // no more pages than this; 0 is no limit
	After    uint64         // of each store, only pages with a higher number

	// Purpose is what the pages are wanted for; "": what their crawl was for. Those whose
	// owners refuse it are left out.
	Purpose rights.Purpose
}

// known is what a choice looks at.
type known struct {
	page  *store.Page
	label *store.Label // nil when refine did not see it
	topic string       // of the crawl
}

// wants says whether a page is chosen. What costs a look into the store comes last.
func (c *Choice) wants(k *known) bool {
	p := k.page
	switch {
	case c.MinScore != nil && p.Score < *c.MinScore,
		!c.Since.IsZero() && p.At < c.Since.UnixMilli(),
		len(c.Langs) > 0 && !slices.Contains(c.Langs, p.Lang),
		!c.wantsURL(p.URL),
		c.Kept && (k.label == nil || !k.label.Kept),
		len(c.Labels) > 0 && !slices.Contains(c.Labels, k.named()):
		return false
	}
	return true
}

// wantsURL says whether URLs like this one are chosen.
func (c *Choice) wantsURL(url string) bool {
	return (len(c.Hosts) == 0 || c.onHost(page.Host(url))) && (c.Include == nil || c.Include.MatchString(url))
}

// asksRefine says whether what refine said matters.
func (c *Choice) asksRefine() bool { return c.Kept || len(c.Labels) > 0 }

func (c *Choice) onHost(host string) bool {
	name := host[:max(0, strings.LastIndexByte(host, ':'))]
	return slices.Contains(c.Hosts, host) || slices.Contains(c.Hosts, name)
}

// named is the label of a page: refine's, else that of the crawl's model, else the topic
// where the crawl found it relevant; "" is none.
func (k *known) named() string {
	switch {
	case k.label != nil:
		return k.label.Label
	case k.page.Label != "":
		return k.page.Label
	case k.page.Relevant:
		return k.topic
	}
	return ""
}
