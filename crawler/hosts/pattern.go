package hosts

import (
	"fmt"
	"slices"

	"fossick/internal/page"
)

// A trap is a part of a host that has URLs without end and nothing new behind
// them. Calendars are, sessions in URLs, folders within folders, pages that are
// not there and say 200. Two things give them away.
//
// A URL whose path goes in circles is known before it is fetched (Circular). All
// else shows by what comes back: URLs are sorted by their pattern, in which
// numbers and names count as alike. A pattern whose pages were hardly ever new is
// cut off: its URLs, queued or still to be found, end in the state trap.

const (
	// cutAfter is how many answers a pattern gets before it may be cut, and
	// cutShare the share of them that must have been new for it to go on.
	cutAfter = 200
	cutShare = 0.1

	alikeBits    = 3   // sketches this near are the same page (see page.Distance)
	rememberLast = 64  // pages of a pattern that the next one is compared with
	maxPatterns  = 512 // remembered of a host
)

// pattern is what came back from URLs that look alike.
type pattern struct {
	answers  int
	fresh    int // answers that were unlike those before
	letters  []uint64
	sketches []uint64
	next     int // place in both of the next page
}

// knows says whether a page is like one of those before.
func (p *pattern) knows(f Fingerprint) bool {
	return slices.Contains(p.letters, f.letters) ||
		slices.ContainsFunc(p.sketches, func(s uint64) bool { return page.Distance(s, f.sketch) <= alikeBits })
}

// count takes in an answer; f is nil for one that brings nothing.
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

// verdict says why the pattern is to be cut, "" when it is not.
func (p *pattern) verdict(name string) string {
	if p.answers < cutAfter || float64(p.fresh) >= cutShare*float64(p.answers) {
		return ""
	}
	return fmt.Sprintf("%d of %d answers at %s had nothing new", p.answers-p.fresh, p.answers, name)
}

// observe takes note of an answer: a page, or none worth having (f nil). The
// pattern is cut when that was once too often.
func (d *Detector) observe(h *trapsHost, url string, f *Fingerprint) {
	if d.off {
		return
	}
	name := page.Pattern(url)
	p := h.patterns[name]
	if p == nil {
		if h.patterns == nil || len(h.patterns) >= maxPatterns {
			h.patterns = map[string]*pattern{} // they begin anew; those that were cut stay so
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

func (h *trapsHost) cut(name, why string) {
	if h.Cuts == nil {
		h.Cuts = map[string]string{}
	}
	h.Cuts[name] = why
}

// Cut says why a URL of h is not fetched, "" when it may be.
func (d *Detector) Cut(h *trapsHost, url string) string {
	if d.off || len(h.Cuts) == 0 {
		return ""
	}
	return h.Cuts[page.Pattern(url)]
}
