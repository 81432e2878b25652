package crawler

import (
	"fmt"
	"slices"
	"strings"

	"fossick/page"
)

// A trap is a part of a host that has URLs without end and nothing new behind
// them: calendars, sessions in URLs, folders within folders, pages that are not
// there and say 200. Two things give them away.
//
// A URL whose path goes in circles is known before it is fetched (circular). All
// else shows by what comes back: URLs are sorted by their pattern, in which
// numbers and names count as alike, and a pattern whose pages were hardly ever
// new is cut off: its URLs, queued or still to be found, end in the state trap.

const (
	// cutAfter is how many answers a pattern gets before it may be cut, and
	// cutShare the share of them that must have been new for it to go on.
	cutAfter = 200
	cutShare = 0.1

	alikeBits    = 3   // sketches this near are the same page (see page.Distance)
	rememberLast = 64  // pages of a pattern that the next one is compared with
	maxPatterns  = 512 // remembered of a host

	maxRepeats  = 3 // of one folder in a path
	maxSegments = 32
)

// pattern is what came back from URLs that look alike.
type pattern struct {
	answers   int
	fresh     int // answers that were unlike those before
	skeletons []uint64
	sketches  []uint64
	next      int // place in both of the next page
}

// looks is what a page is compared by.
type looks struct {
	skeleton uint64 // of its letters: what a counter or a date changes does not show
	sketch   uint64
}

// knows says whether a page looks like one of those before.
func (p *pattern) knows(l looks) bool {
	return slices.Contains(p.skeletons, l.skeleton) ||
		slices.ContainsFunc(p.sketches, func(s uint64) bool { return page.Distance(s, l.sketch) <= alikeBits })
}

// add counts a page and reports whether it was new.
func (p *pattern) add(l looks) bool {
	p.answers++
	if p.knows(l) {
		return false
	}
	p.fresh++
	if len(p.skeletons) < rememberLast {
		p.skeletons, p.sketches = append(p.skeletons, l.skeleton), append(p.sketches, l.sketch)
		return true
	}
	p.skeletons[p.next], p.sketches[p.next] = l.skeleton, l.sketch
	p.next = (p.next + 1) % rememberLast
	return true
}

// verdict says why the pattern is to be cut, "" when it is not.
func (p *pattern) verdict(name string) string {
	if p.answers < cutAfter || float64(p.fresh) >= cutShare*float64(p.answers) {
		return ""
	}
	return fmt.Sprintf("%d of %d answers at %s had nothing new", p.answers-p.fresh, p.answers, name)
}

// observe takes note of an answer: a page with its looks, or none worth having
// (l nil). The pattern is cut when that was once too often.
func (c *Crawler) observe(h *host, url string, l *looks) {
	if c.opt.FollowTraps {
		return
	}
	name := patternOf(url)
	p := h.patterns[name]
	if p == nil {
		if h.patterns == nil || len(h.patterns) >= maxPatterns {
			h.patterns = map[string]*pattern{} // they begin anew; those that were cut stay so
		}
		p = &pattern{}
		h.patterns[name] = p
	}
	if l == nil {
		p.answers++
	} else {
		p.add(*l)
	}
	why := p.verdict(name)
	if why == "" || h.Cuts[name] != "" {
		return
	}
	if h.Cuts == nil {
		h.Cuts = map[string]string{}
	}
	h.Cuts[name] = why
	delete(h.patterns, name)
	c.opt.Log.Warn("trap cut off", "host", h.Name, "why", why)
}

// trapped says why a URL of h is not fetched, "" when it may be.
func (c *Crawler) trapped(h *host, url string) string {
	if c.opt.FollowTraps || h == nil || len(h.Cuts) == 0 {
		return ""
	}
	return h.Cuts[patternOf(url)]
}

// patternOf returns what a URL has in common with those made by the same hand:
// digits are 0, the last name of the path is *, and of the query only the names
// count.
//
//	/events/2026/list.html?month=5&view=day → /events/0/*.html?month&view
func patternOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	slash := strings.IndexByte(rest, '/')
	if slash < 0 {
		return "/"
	}
	path, query, has := strings.Cut(rest[slash+1:], "?")
	var b strings.Builder
	folders := strings.Split(path, "/")
	leaf := folders[len(folders)-1]
	before := ""
	for _, f := range folders[:len(folders)-1] {
		f = shape(f)
		if f == before && strings.ContainsRune(f, '0') {
			continue // folders within folders
		}
		before = f
		b.WriteByte('/')
		b.WriteString(f)
	}
	b.WriteByte('/')
	if leaf != "" {
		b.WriteByte('*')
		if dot := strings.LastIndexByte(leaf, '.'); dot > 0 && len(leaf)-dot <= 6 {
			b.WriteString(shape(leaf[dot:]))
		}
	}
	if has {
		b.WriteByte('?')
		b.WriteString(strings.Join(parameters(query), "&"))
	}
	return b.String()
}

// parameters returns the names of a query's parameters, sorted, each once.
func parameters(query string) []string {
	var names []string
	for part := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(part, "=")
		names = append(names, shape(name))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// shape returns s with each run of digits as one 0; what is mostly digits, as a
// hexadecimal number is, becomes 0 altogether.
func shape(s string) string {
	digits := 0
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' {
			digits++
		}
	}
	switch {
	case digits == 0:
		return s
	case 2*digits >= len(s) && len(s) > 3:
		return "0"
	}
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= '0' && c <= '9' {
			if i > 0 && s[i-1] >= '0' && s[i-1] <= '9' {
				continue
			}
			c = '0'
		}
		b.WriteByte(c)
	}
	return b.String()
}

// circular says why a URL's path can only be a trap's, "" when it need not be:
// it names a folder again and again, or has folders without end.
func circular(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	path, _, _ := strings.Cut(rest, "?")
	if strings.Count(path, "/") <= maxRepeats {
		return ""
	}
	segments := strings.Split(path, "/")[1:]
	if len(segments) > maxSegments {
		return fmt.Sprintf("its path has %d folders", len(segments)-1)
	}
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
