package hosts

import (
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"

	"fossick/internal/page"
)

// TrapDetector recognises traps. It belongs to one goroutine.
type TrapDetector struct {
	off     bool // nothing counts as a trap
	log     *slog.Logger
	farms   farms
	budgets budgets
}

// NewTrapDetector returns a detector; one that is off finds no traps.
func NewTrapDetector(off bool, log *slog.Logger) *TrapDetector {
	return &TrapDetector{
		off: off, log: log,
		farms:   farms{patterns: page.NewCache[string, *pattern](farmPatterns), cuts: map[string]map[string]string{}},
		budgets: newBudgets(),
	}
}

// trapState is the trap evidence about one host.
type trapState struct {
	Name, Site string // name:port, registrable domain

	Cuts  map[string]string // patterns of URLs and hosts that are traps, and why
	News  bool              // a page of it was unlike those of its site's other hosts
	Start bool              // the user named a page of it

	patterns map[string]*pattern // the answers, by page.Pattern
	answers  int                 // pages compared with those of its site's other hosts
}

// restore adds an earlier session's counts of pages and of pages on topic.
func (d *TrapDetector) restore(h *trapState, pages, relevant uint64) {
	if pages > 0 || h.Start {
		d.budgets.add(h.Site, int(pages), int(relevant))
		w := page.Entry(&d.budgets.sites, h.Site)
		w.wanted = w.wanted || h.Start
	}
	d.restoreFarms(h)
}

// Answered counts an exchange for a page of h.
func (d *TrapDetector) Answered(h *trapState, url string) { d.budgets.addURL(h, url, 1, 0) }

// Relevant counts a new page of h that is on topic.
func (d *TrapDetector) Relevant(h *trapState, url string) { d.budgets.addURL(h, url, 0, 1) }

// Page records a page at a URL of h. across is its fingerprint among the site's hosts, nil
// unless Watched asked for it.
func (d *TrapDetector) Page(h *trapState, url string, own Fingerprint, across *Fingerprint) {
	if across != nil {
		d.observeHost(h, across)
	}
	d.observe(h, url, &own)
}

// Duplicate records a page with the content of another one.
func (d *TrapDetector) Duplicate(h *trapState, url string) {
	d.observe(h, url, nil)
	d.observeHost(h, nil)
}

// Missing records an answer that is no page.
func (d *TrapDetector) Missing(h *trapState, url string) { d.observe(h, url, nil) }

const (
	maxRepeats  = 3 // of one folder in a path
	maxSegments = 32
)

// Circular says why a URL's path can only belong to a trap: it repeats a folder again and
// again, or has too many folders. It returns "" otherwise.
func Circular(url string) string {
	if strings.Count(url, "/") <= len("//")+maxRepeats {
		return "" // as for most links, cheaply
	}
	_, rest, _ := strings.Cut(url, "://")
	path, _, _ := strings.Cut(rest, "?")
	n := strings.Count(path, "/")
	if n <= maxRepeats {
		return ""
	}
	if n > maxSegments {
		return fmt.Sprintf("its path has %d folders", n-1)
	}
	var room [1 + maxSegments]string // the host too
	segments := room[:0]
	for s := range strings.SplitSeq(path, "/") {
		segments = append(segments, s)
	}
	segments = segments[1:]
	for i, s := range segments {
		n := 1
		for _, later := range segments[i+1:] {
			if later == s && s != "" {
				n++
			}
		}
		if n > maxRepeats && !isDigits(s) {
			return fmt.Sprintf("its path names the folder %q %d times", s, n)
		}
	}
	return ""
}

func isDigits(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}

// A trap is a part of a host with endless URLs and nothing new behind them: calendars,
// sessions in URLs, nested folders, missing pages that answer 200.
//
// Circular recognises a path that goes in circles before it is fetched. Other traps show by
// their answers: URLs are grouped by pattern, in which numbers and names are alike. A pattern
// whose pages were hardly ever new is cut off: its URLs, queued or found later, end in the
// state trap.

const (
	// cutAfter is the number of answers before a pattern may be cut; it is cut when less than
	// cutShare of them were new.
	cutAfter = 200
	cutShare = 0.1

	alikeBits    = 3   // sketches this near are the same page (see page.Distance)
	rememberLast = 64  // pages of a pattern kept for comparison
	maxPatterns  = 512 // kept per host
)

// pattern holds the answers from URLs that look alike.
type pattern struct {
	answers  int
	fresh    int // answers unlike those before
	letters  []uint64
	sketches []uint64
	next     int // place of the next page in both
}

// knows reports whether a page is like an earlier one.
func (p *pattern) knows(f Fingerprint) bool {
	return slices.Contains(p.letters, f.letters) ||
		slices.ContainsFunc(p.sketches, func(s uint64) bool { return page.Distance(s, f.sketch) <= alikeBits })
}

// count adds an answer; f is nil if it brought nothing.
func (p *pattern) count(f *Fingerprint) {
	p.answers++
	if f == nil || p.knows(*f) {
		return
	}
	p.fresh++
	if len(p.letters) < rememberLast {
		p.letters, p.sketches = append(p.letters, f.letters), append(p.sketches, f.sketch)
		return
	}
	p.letters[p.next], p.sketches[p.next] = f.letters, f.sketch
	p.next = (p.next + 1) % rememberLast
}

// verdict says why the pattern is cut; "" when it is not.
func (p *pattern) verdict(name string) string {
	if p.answers < cutAfter || float64(p.fresh) >= cutShare*float64(p.answers) {
		return ""
	}
	return fmt.Sprintf("%d of %d answers at %s had nothing new", p.answers-p.fresh, p.answers, name)
}

// observe records an answer, nil f for a useless one, and cuts its pattern if that was one too
// many.
func (d *TrapDetector) observe(h *trapState, url string, f *Fingerprint) {
	if d.off {
		return
	}
	name := page.Pattern(url)
	p := h.patterns[name]
	if p == nil {
		if h.patterns == nil || len(h.patterns) >= maxPatterns {
			h.patterns = map[string]*pattern{} // they start anew; cut patterns stay cut
		}
		p = &pattern{}
		h.patterns[name] = p
	}
	p.count(f)
	why := p.verdict(name)
	if why == "" || h.Cuts[name] != "" {
		return
	}
	h.cut(name, why)
	delete(h.patterns, name)
	d.log.Warn("trap cut off", "host", h.Name, "why", why)
}

func (h *trapState) cut(name, why string) {
	if h.Cuts == nil {
		h.Cuts = map[string]string{}
	}
	h.Cuts[name] = why
}

// Cut says why a URL of h is not fetched; "" when it may be.
func (d *TrapDetector) Cut(h *trapState, url string) string {
	if d.off || len(h.Cuts) == 0 {
		return ""
	}
	return h.Cuts[page.Pattern(url)]
}

// A site whose text is always new is no trap by its text. It is judged by its share of pages
// on topic, compared with the other sites. So each site has a budget of pages, which grows
// with its pages on topic. A crawl of one site has no budget, and neither have the user's
// seeds.
//
// A database may stand on a good site, or on a seed's. So each pattern of a host's URLs has a
// budget too, and so have the wider patterns around it: whatever the spelling of its URLs,
// some pattern covers the database.

const (
	// A site is judged when its pages would have brought budgetHits pages on topic at the
	// others' rate, within these bounds.
	budgetHits  = 20
	budgetLeast = 500
	budgetMost  = 2000
	// budgetFold is how much worse than the others a site may stay.
	budgetFold   = 5
	budgetOthers = 100  // pages of other sites that must be known
	budgetSites  = 4096 // in memory, and as many older ones; four times as many patterns
)

// budgets counts sites and hosts' patterns. The least recently used is forgotten; one with a
// budget to spend is used all the time.
type budgets struct {
	sites    page.Cache[string, *worth]
	patterns page.Cache[string, *worth] // by host and page.Pattern, with all wider ones
	all      worth                      // of all sites
}

func newBudgets() budgets {
	return budgets{sites: page.NewCache[string, *worth](budgetSites), patterns: page.NewCache[string, *worth](4 * budgetSites)}
}

// patternsOf yields the patterns of a host's URL, without the host.
func patternsOf(host, url string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for p := page.Pattern(url); p != ""; p = page.WiderPattern(p) {
			if !yield(host + p) {
				return
			}
		}
	}
}

// worth counts the results of a site.
type worth struct {
	answers int  // exchanges for pages
	hits    int  // pages on topic
	wanted  bool // the user named a page of it
	spent   bool // the log has told so
}

func (w *worth) add(answers, hits int) { w.answers, w.hits = w.answers+answers, w.hits+hits }

// add counts answers of a site and the pages on topic among them.
func (b *budgets) add(site string, answers, hits int) {
	page.Entry(&b.sites, site).add(answers, hits)
	b.all.add(answers, hits)
}

// addURL counts for a URL's site and its patterns.
func (b *budgets) addURL(h *trapState, url string, answers, hits int) {
	b.add(h.Site, answers, hits)
	for name := range patternsOf(h.Name, url) {
		page.Entry(&b.patterns, name).add(answers, hits)
	}
}

// spent says why a site or a pattern gets no more pages; "" when it may.
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

// Spent says why a URL of h exceeds the budget of its site or patterns; "" when it does not.
// start marks a seed or a seed's redirect.
func (d *TrapDetector) Spent(h *trapState, url string, start bool) string {
	if d.off {
		return ""
	}
	h.Start = h.Start || start
	if why := d.spent("site", h.Site, page.Entry(&d.budgets.sites, h.Site), h.Start); why != "" {
		return why
	}
	for name := range patternsOf(h.Name, url) {
		if why := d.spent("pattern", name, page.Entry(&d.budgets.patterns, name), start); why != "" {
			return why
		}
	}
	return ""
}

// spent judges w; wanted says that the user named it.
func (d *TrapDetector) spent(what, name string, w *worth, wanted bool) string {
	w.wanted = w.wanted || wanted
	why := d.budgets.spent(what, name, w)
	if why != "" && !w.spent {
		w.spent = true
		d.log.Warn(what+" has spent its budget", what, name, "why", why)
	}
	return why
}
