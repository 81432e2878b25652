package crawler

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"fossick/internal/page"
	"fossick/store"
)

// LinkPolicy says which links are followed, by their targets.
type LinkPolicy string

// The policies of cli.md's --links.
const (
	linksAll      LinkPolicy = "all"
	linksExternal LinkPolicy = "external" // to another host (paper A2)
	LinksSite     LinkPolicy = "site"     // within the site
	LinksHost     LinkPolicy = "host"     // within the host, by its name
)

// Why a link that leads out of a site, or of a host, is not followed.
const (
	offSite = "other site, and only links within the site are followed"
	offHost = "other host, and only links within the host are followed"
)

// OffParty reports whether a URL was skipped only for lying outside of the party that links to
// it.
func OffParty(reason string) bool { return reason == offSite || reason == offHost }

// Scope says which URLs a crawl may visit; the zero value: all.
type Scope struct {
	Links    LinkPolicy // "" is all
	Include  *regexp.Regexp
	Exclude  *regexp.Regexp
	TLD      []string // top-level domains without the dot
	Langs    []string // ISO 639-1
	MaxDepth int      // links from a start page; 0: no limit

	// Parties applies Links to redirects too. Leaving a party is the reason given before all
	// others but those of Excludes.
	Parties bool

	Forgotten store.Forgets // at the request of their owners
}

// skipLink says why a link is not followed, "" if it is.
func (s *Scope) skipLink(from *page.Page, l *page.Link, depth int) string {
	out := s.refusal(from.URL, l.URL)
	switch {
	case from.NoFollow:
		return "meta robots of the page says nofollow"
	case l.NoFollow:
		return "the link says rel=nofollow"
	case out != "":
		return out
	case s.MaxDepth > 0 && depth > s.MaxDepth:
		return fmt.Sprintf("deeper than %d links", s.MaxDepth)
	case s.Links == linksExternal && page.Host(l.URL) == page.Host(from.URL):
		return "same host, and only links to other hosts are followed"
	}
	if why := s.leaves(from.URL, l.URL); why != "" {
		return why
	}
	if why := s.skipLang(from, l, depth); why != "" {
		return why
	}
	return s.Excludes(l.URL)
}

// leaves says why a link violates Links, "" if it does not.
func (s *Scope) leaves(from, to string) string {
	switch {
	case s.Links == LinksSite && page.Site(to) != page.Site(from):
		return offSite
	case s.Links == LinksHost && page.HostName(to) != page.HostName(from):
		return offHost
	}
	return ""
}

// unnamed reports that a link is ignored: it leaves its party, and its author asks not to
// follow it. A record of it would hide another link to the same URL that makes it a candidate
// seed.
func (s *Scope) unnamed(from *page.Page, l *page.Link) bool {
	return s.Parties && (from.NoFollow || l.NoFollow) && s.leaves(from.URL, l.URL) != ""
}

// refusal says why a link or redirect leads out of its party or to an excluded URL, "" if it
// does neither, or the crawl knows no parties.
func (s *Scope) refusal(from, to string) string {
	if !s.Parties {
		return ""
	}
	why := s.leaves(from, to)
	if why == "" {
		return ""
	}
	return cmp.Or(s.Excludes(to), why)
}

// Excludes says why a URL is not visited, wherever its link is, "" if it is.
func (s *Scope) Excludes(u string) string {
	if s.Forgotten.Has(u) {
		return store.ForgottenReason
	}
	why := s.excluded(u)
	switch {
	case why != "":
		return why
	case s.Include != nil && !s.Include.MatchString(u):
		return "not included by " + s.Include.String()
	case len(s.TLD) > 0 && !slices.Contains(s.TLD, topLevel(u)):
		return "top-level domain is not one of " + strings.Join(s.TLD, ", ")
	}
	return ""
}

// excluded is Excludes for the pattern Exclude alone.
func (s *Scope) excluded(u string) string {
	if s.Exclude != nil && s.Exclude.MatchString(u) {
		return "excluded by " + s.Exclude.String()
	}
	return ""
}

func topLevel(u string) string {
	parsed, err := url.Parse(u)
	if err != nil {
		return ""
	}
	name := parsed.Hostname()
	return name[strings.LastIndexByte(name, '.')+1:]
}

// A crawl of some languages (paper E7, generalised) keeps pages in these and in unknown
// languages; other pages end as wrong_type. Their links mostly lead to the same language, so
// they are followed only from a start page or if hreflang names a wanted language.

// foreign says why a page's language excludes it, "" if it does not.
func (s *Scope) foreign(p *page.Page) string {
	if s.wantsLang(p.Lang) {
		return ""
	}
	return "the page's language is " + p.Lang + s.notOne()
}

// skipLang says why a link is not followed for its language, "" if it is. depth is its
// target's.
func (s *Scope) skipLang(from *page.Page, l *page.Link, depth int) string {
	switch {
	case !s.wantsLang(l.Lang):
		return "the link says hreflang " + l.Lang + s.notOne()
	case l.Lang == "" && depth > 1 && !s.wantsLang(from.Lang):
		return "the language of the page that links here is " + from.Lang + s.notOne()
	}
	return ""
}

func (s *Scope) notOne() string { return ", not one of " + strings.Join(s.Langs, ", ") }

// wantsLang reports whether pages in a language are wanted; "" is an unknown language.
func (s *Scope) wantsLang(code string) bool {
	return len(s.Langs) == 0 || code == "" || slices.ContainsFunc(s.Langs, func(want string) bool {
		return macro(want) == macro(code)
	})
}

// macro returns one code for a language that has several: Norwegian is no, nb or nn, and three
// codes changed in 1989.
func macro(code string) string {
	switch code {
	case "nb", "nn":
		return "no"
	case "iw":
		return "he"
	case "in":
		return "id"
	case "ji":
		return "yi"
	}
	return code
}

// translated raises the scores of translations. On a page in an unwanted language, a link that
// names a wanted one gets at least the score that led to the page.
func (r *reader) translated(p *parsedPage, order order, scores []float64) {
	for i := range scores {
		if l := &p.Links[i]; p.Foreign != "" && l.Lang != "" && r.scope.Load().wantsLang(l.Lang) {
			scores[i] = max(scores[i], order.Parent)
		}
	}
}
