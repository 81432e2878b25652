package hosts

import (
	"fmt"
	"iter"

	"fossick/internal/page"
)

// A site whose text is always new is no trap by what it says. It is known by what it is
// worth: of its pages hardly any is on topic, where of the others' many are. So each site
// has a budget of pages, which grows with those of them that are on topic, measured by
// what a page of the other sites brings. A crawl of one site has no others, and what the
// user starts from needs no proof: neither has a limit.
//
// A database may stand on a good site, or on one that the user named. So the patterns of
// a host's URLs have such budgets as well, each with the wider ones that it is part of:
// however a database spells its URLs, some pattern has them all.

const (
	// A site is judged when its pages would have brought budgetHits pages on topic, were
	// they like the others', within these bounds.
	budgetHits  = 20
	budgetLeast = 500
	budgetMost  = 2000
	// budgetFold is how much worse than the others a site may be for ever.
	budgetFold   = 5
	budgetOthers = 100  // pages of other sites that must be known
	budgetSites  = 4096 // in memory, and as many older ones; four times as many patterns
)

// budgets are what is known of sites, and of hosts' patterns. The one asked for least is
// forgotten, and one with a budget to spend is asked for all the time.
type budgets struct {
	sites    trapsRecent[worth]
	patterns trapsRecent[worth] // by host and page.Pattern, with all wider ones
	all      worth              // of all sites
}

func newBudgets() budgets {
	return budgets{sites: newRecent[worth](budgetSites), patterns: newRecent[worth](4 * budgetSites)}
}

// patternsOf yields the patterns that a URL of a host is part of, the host left aside.
func patternsOf(host, url string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for p := page.Pattern(url); p != ""; p = page.WiderPattern(p) {
			if !yield(host + p) {
				return
			}
		}
	}
}

// worth is what came of a site.
type worth struct {
	answers int  // of exchanges for pages
	hits    int  // pages on topic
	wanted  bool // the user named a page of it
	spent   bool // and told so
}

func (w *worth) add(answers, hits int) { w.answers, w.hits = w.answers+answers, w.hits+hits }

// add counts answers of a site and the pages on topic among them.
func (b *budgets) add(site string, answers, hits int) {
	b.sites.of(site).add(answers, hits)
	b.all.add(answers, hits)
}

// addURL counts them for a URL's site and its patterns.
func (b *budgets) addURL(h *trapsHost, url string, answers, hits int) {
	b.add(h.Site, answers, hits)
	for name := range patternsOf(h.Name, url) {
		b.patterns.of(name).add(answers, hits)
	}
}

// spent says why a site, or a pattern, gets no more pages, "" when it may have some.
func (b *budgets) spent(what, name string, w *worth) string {
	others, hits := b.all.answers-w.answers, b.all.hits-w.hits
	if w.wanted || w.answers < budgetLeast || others < budgetOthers || hits == 0 {
		return ""
	}
	rate := float64(hits) / float64(others)
	budget := min(budgetMost, max(budgetLeast, budgetHits/rate)) + budgetFold*float64(w.hits)/rate
	if budget > float64(w.answers) && !w.spent {
		return ""
	}
	return fmt.Sprintf("the %s %s gave %d answers and %d pages on topic; elsewhere one answer in %.3g was on topic",
		what, name, w.answers, w.hits, 1/rate)
}

// Spent says why a URL of h is not fetched for the sake of its site or its patterns, "" when
// it may be. start says that the user named the URL, or that it is where such a one was
// moved to.
func (d *Detector) Spent(h *trapsHost, url string, start bool) string {
	if d.off {
		return ""
	}
	h.Start = h.Start || start
	if why := d.spent("site", h.Site, d.budgets.sites.of(h.Site), h.Start); why != "" {
		return why
	}
	for name := range patternsOf(h.Name, url) {
		if why := d.spent("pattern", name, d.budgets.patterns.of(name), start); why != "" {
			return why
		}
	}
	return ""
}

// spent says why what w is of gets no more pages; wanted, that the user named one.
func (d *Detector) spent(what, name string, w *worth, wanted bool) string {
	w.wanted = w.wanted || wanted
	why := d.budgets.spent(what, name, w)
	if why != "" && !w.spent {
		w.spent = true
		d.log.Warn(what+" has spent its budget", what, name, "why", why)
	}
	return why
}
