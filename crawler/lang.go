package crawler

import (
	"slices"
	"strings"

	"fossick/internal/page"
)

// A crawl of some languages (paper E7, generalised) keeps pages in these, and pages of
// unknown language. A page in another language ends as wrong_type. Its links mostly lead to
// its own language, so they are followed only where hreflang names a wanted one, and from a
// start page.

// foreign says why a page's language keeps it out, "" when it does not.
func (s *Scope) foreign(p *page.Page) string {
	if s.wantsLang(p.Lang) {
		return ""
	}
	return "the page's language is " + p.Lang + s.notOne()
}

// skipLang says why a link is not followed because of languages, "" when it is. depth is
// its target's.
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

// wantsLang says whether pages in a language are wanted; "" is an unknown one.
func (s *Scope) wantsLang(code string) bool {
	return len(s.Langs) == 0 || code == "" || slices.ContainsFunc(s.Langs, func(want string) bool {
		return macro(want) == macro(code)
	})
}

// macro returns one code for a language that has several. Norwegian is no, nb or nn. Three
// codes were changed in 1989.
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

// translated rates translations. On a page in an unwanted language, links that name a wanted
// one lead to what the page was taken for. So they get at least the score that led to it.
func (r *reader) translated(p *readingPage, order order, scores []float64) {
	for i := range scores {
		if l := &p.Links[i]; p.Foreign != "" && l.Lang != "" && r.opt.Scope.wantsLang(l.Lang) {
			scores[i] = max(scores[i], order.Parent)
		}
	}
}
