package page

import (
	"strings"
	"unicode"
)

// How alike two pages must be to hold the same content. Chosen on debdocs, whose
// sites have the longest templates, by reading pairs; docs/duplicates.md has
// the figures, there and on corpora that had no part in it.
const (
	nearShare     = 0.90 // of shingles, on two hosts, or of one title
	untitledShare = 0.95 // of two pages of a host without titles
	renamedShare  = 0.99 // of two pages of a host with different titles…
	renamedWhole  = 0.95 // …and that of their whole texts, menus included
)

// Near returns the resemblance of two pages' prose in [0,1], and whether the
// pages are near-duplicates. Those have the same content but for a date, an
// advertisement, some comments, or what the site puts around it.
//
// The prose decides and not the whole text, as menus are the same all over a
// site and different on its mirror. What templates have besides menus shows on
// pages of one host only, so there the titles have a say: those of different pages
// differ. Pages with fewer than MinWords words of prose are never near-duplicates.
func Near(p, q *Page) (alike float64, near bool) {
	if p.Signature.IsZero() || q.Signature.IsZero() {
		return 0, false
	}
	alike = resemblance(p.prose(), q.prose())
	need := NearShare(p.URL, p.Title, q.URL, q.Title)
	if alike < need {
		return alike, false
	}
	return alike, need < renamedShare || resemblance(p.Text, q.Text) >= renamedWhole
}

// NearShare returns the resemblance that two pages need to be near-duplicates, by
// their URLs and titles. It is necessary; Near has the last word.
func NearShare(url1, title1, url2, title2 string) float64 {
	switch {
	case !sameFrame(url1, url2):
		return nearShare
	case title1 == "" && title2 == "":
		return untitledShare
	case sameTitle(title1, title2):
		return nearShare
	}
	return renamedShare
}

// sameFrame says whether two URLs are of one host, by http or https, with www or not:
// their pages may be of one template.
func sameFrame(url1, url2 string) bool {
	name := func(url string) string {
		host := Host(url)
		return strings.TrimPrefix(host[:max(0, strings.LastIndexByte(host, ':'))], "www.")
	}
	return name(url1) == name(url2)
}

// sameTitle says whether two titles have the same words, or one is the other with
// something set apart, such as the site's name.
func sameTitle(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if a == "" {
		return b == ""
	}
	if sameWords(a, b) {
		return true
	}
	for _, apart := range []string{" | ", " - ", " – ", " — ", " :: ", " · ", " » ", " « ", " ("} {
		for at := 0; ; {
			n := strings.Index(b[at:], apart)
			if n < 0 {
				break
			}
			if at += n; sameWords(a, b[:at]) || sameWords(a, b[at+len(apart):]) {
				return true
			}
			at += len(apart)
		}
	}
	return false
}

func sameWords(a, b string) bool {
	split := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	x, y := strings.FieldsFunc(a, split), strings.FieldsFunc(b, split)
	if len(x) != len(y) || len(x) == 0 {
		return false
	}
	for i := range x {
		if !strings.EqualFold(x[i], y[i]) {
			return false
		}
	}
	return true
}
