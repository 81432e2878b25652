package reading

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"fossick/page"
	"fossick/store"
)

// LinkPolicy says which links are followed, by where they lead.
type LinkPolicy string

// The policies of cli.md's --links.
const (
	LinksAll      LinkPolicy = "all"
	LinksExternal LinkPolicy = "external" // to another host (paper A2)
	LinksSite     LinkPolicy = "site"     // within the site
)

// Scope says which URLs a crawl may visit; the zero value: all.
type Scope struct {
	Links    LinkPolicy // "" is all
	Include  *regexp.Regexp
	Exclude  *regexp.Regexp
	TLD      []string // top-level domains without the dot
	Langs    []string // ISO 639-1; see lang.go
	MaxDepth int      // links from a start page; 0: no limit

	Forgotten store.Forgets // by request of their owners
}

// skipLink says why a link is not followed, "" when it is.
func (s *Scope) skipLink(from *page.Page, l *page.Link, depth int) string {
	switch {
	case from.NoFollow:
		return "meta robots of the page says nofollow"
	case l.NoFollow:
		return "the link says rel=nofollow"
	case s.MaxDepth > 0 && depth > s.MaxDepth:
		return fmt.Sprintf("deeper than %d links", s.MaxDepth)
	case s.Links == LinksExternal && page.Host(l.URL) == page.Host(from.URL):
		return "same host, and only links to other hosts are followed"
	case s.Links == LinksSite && page.Site(l.URL) != page.Site(from.URL):
		return "other site, and only links within the site are followed"
	}
	if why := s.skipLang(from, l, depth); why != "" {
		return why
	}
	return s.Excludes(l.URL)
}

// Excludes says why a URL is not visited wherever it stands, "" when it is.
func (s *Scope) Excludes(u string) string {
	switch {
	case s.Forgotten.Has(u):
		return store.ForgottenReason
	case s.Exclude != nil && s.Exclude.MatchString(u):
		return "excluded by " + s.Exclude.String()
	case s.Include != nil && !s.Include.MatchString(u):
		return "not included by " + s.Include.String()
	case len(s.TLD) > 0 && !slices.Contains(s.TLD, topLevel(u)):
		return "top-level domain is not one of " + strings.Join(s.TLD, ", ")
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
