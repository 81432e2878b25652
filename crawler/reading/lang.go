package reading

import (
	"slices"
	"strings"

	"fossick/page"
)

// A crawl of some languages (paper E7, generalised) keeps the pages in these,
// and those whose language nobody can tell. A page in another language ends as
// wrong_type. Its links lead to its own language as a rule, so only those are
// followed that name a wanted one (hreflang), and those of a start page. From a
// page in a wanted language the others may be found again.

// foreign says why a page is not kept for its language, "" when it is.
func (s *Scope) foreign(p *page.Page) string {
	if s.wantsLang(p.Lang) {
		return ""
	}
	return "the page's language is " + p.Lang + s.notOne()
}

// skipLang says why a link is not followed for languages, "" when it is. depth is
// of its target.
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

// wantsLang says whether a page of a language, "" when unknown, is wanted.
func (s *Scope) wantsLang(code string) bool {
	return len(s.Langs) == 0 || code == "" || slices.ContainsFunc(s.Langs, func(want string) bool {
		return macro(want) == macro(code)
	})
}

// macro returns the code under which pages of a language may also go: Norwegian
// is declared as no, nb or nn; three codes were changed in 1989.
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

// translated gives links that name a wanted language, on a page in another one,
// at least the score that led to the page: they lead to what it was taken for.
func (r *Reader) translated(p *Page, order Order, scores []float64) {
	for i := range scores {
		if l := &p.Links[i]; p.Foreign != "" && l.Lang != "" && r.opt.Scope.wantsLang(l.Lang) {
			scores[i] = max(scores[i], order.Parent)
		}
	}
}
