package traps

import "fmt"

// A site whose text is always new is no trap by what it says. It is known by what it is
// worth: of its pages hardly any is on topic, where of the others' many are. So each site
// has a budget of pages, which grows with those of them that are on topic, measured by
// what a page of the other sites brings. A crawl of one site has no others, and what the
// user starts from needs no proof: neither has a limit.

const (
	// A site is judged when its pages would have brought budgetHits pages on topic, were
	// they like the others', within these bounds.
	budgetHits  = 20
	budgetLeast = 500
	budgetMost  = 2000
	// budgetFold is how much worse than the others a site may be for ever.
	budgetFold   = 5
	budgetOthers = 100  // pages of other sites that must be known
	budgetSites  = 4096 // in memory, and as many older ones
)

// budgets are what is known of sites. The one asked for least is forgotten, and one with
// a budget to spend is asked for all the time.
type budgets struct {
	sites recent[worth]
	all   worth // of all sites
}

// worth is what came of a site.
type worth struct {
	answers int  // of exchanges for pages
	hits    int  // pages on topic
	wanted  bool // the user named a page of it
	spent   bool // and told so
}

// add counts answers of a site and the pages on topic among them.
func (b *budgets) add(site string, answers, hits int) {
	for _, w := range []*worth{b.sites.of(site), &b.all} {
		w.answers, w.hits = w.answers+answers, w.hits+hits
	}
}

// spent says why a site gets no more pages, "" when it may have some.
func (b *budgets) spent(site string) (why string, w *worth) {
	w = b.sites.of(site)
	others, hits := b.all.answers-w.answers, b.all.hits-w.hits
	if w.wanted || w.answers < budgetLeast || others < budgetOthers || hits == 0 {
		return "", w
	}
	rate := float64(hits) / float64(others)
	budget := min(budgetMost, max(budgetLeast, budgetHits/rate)) + budgetFold*float64(w.hits)/rate
	if budget > float64(w.answers) && !w.spent {
		return "", w
	}
	return fmt.Sprintf("the site %s has had %d answers, with %d pages on topic where others had one in %.3g",
		site, w.answers, w.hits, 1/rate), w
}

// Spent says why a URL of h is not fetched for its site's sake, "" when it may be. start
// says that the user named the URL, or that it is where such a one was moved to.
func (d *Detector) Spent(h *Host, start bool) string {
	if d.off {
		return ""
	}
	h.Start = h.Start || start
	why, w := d.budgets.spent(h.Site)
	w.wanted = w.wanted || h.Start
	switch {
	case w.wanted, why == "":
		return ""
	case !w.spent:
		w.spent = true
		d.log.Warn("site has spent its budget", "site", h.Site, "why", why)
	}
	return why
}
