package hosts

import "log/slog"

// Detector decides what is a trap. It belongs to one goroutine.
type Detector struct {
	off     bool // nothing is
	log     *slog.Logger
	farms   farms
	budgets budgets
}

// NewTraps returns a detector; one that is off takes nothing for a trap.
func NewTraps(off bool, log *slog.Logger) *Detector {
	return &Detector{
		off: off, log: log,
		farms:   farms{patterns: newRecent[pattern](farmPatterns), cuts: map[string]map[string]string{}},
		budgets: newBudgets(),
	}
}

// trapsHost is what is known of one host.
type trapsHost struct {
	Name, Site string // name:port, registrable domain

	Cuts  map[string]string // patterns of URLs, and of hosts, that are traps, and why
	News  bool              // a page of it was unlike those of its site's other hosts
	Start bool              // the user named a page of it

	patterns map[string]*pattern // what came back, by page.Pattern
	answers  int                 // pages that were compared with those of its site's other hosts
}

// restore takes up what an earlier session has learned of a host: its record, with the
// pages that it gave and those of them on topic.
func (d *Detector) restore(h *trapsHost, pages, relevant uint64) {
	if pages > 0 || h.Start {
		d.budgets.add(h.Site, int(pages), int(relevant))
		w := d.budgets.sites.of(h.Site)
		w.wanted = w.wanted || h.Start
	}
	d.restoreFarms(h)
}

// Answered counts an exchange for a page of h.
func (d *Detector) Answered(h *trapsHost, url string) { d.budgets.addURL(h, url, 1, 0) }

// Relevant counts a page of h that is on topic, and new.
func (d *Detector) Relevant(h *trapsHost, url string) { d.budgets.addURL(h, url, 0, 1) }

// Page takes note of a page at a URL of h. across is its fingerprint among the site's
// hosts, nil where Watched did not ask for it.
func (d *Detector) Page(h *trapsHost, url string, own Fingerprint, across *Fingerprint) {
	if across != nil {
		d.observeHost(h, across)
	}
	d.observe(h, url, &own)
}

// Duplicate takes note of a page with the content of another one.
func (d *Detector) Duplicate(h *trapsHost, url string) {
	d.observe(h, url, nil)
	d.observeHost(h, nil)
}

// Missing takes note of an answer that is no page.
func (d *Detector) Missing(h *trapsHost, url string) { d.observe(h, url, nil) }

// trapsRecent is a map that forgets: of two generations, the older goes when the younger has
// as many entries as its limit.
type trapsRecent[V any] struct {
	young, old map[string]*V
	limit      int
}

func newRecent[V any](limit int) trapsRecent[V] {
	return trapsRecent[V]{young: map[string]*V{}, limit: limit}
}

// of returns the entry of a name, a new one where there is none.
func (r *trapsRecent[V]) of(name string) *V {
	v := r.young[name]
	if v != nil {
		return v
	}
	if v = r.old[name]; v == nil {
		v = new(V)
	}
	if len(r.young) >= r.limit {
		r.old, r.young = r.young, map[string]*V{}
	}
	r.young[name] = v
	return v
}

func (r *trapsRecent[V]) drop(name string) {
	delete(r.young, name)
	delete(r.old, name)
}
