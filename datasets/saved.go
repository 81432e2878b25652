package datasets

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/net/html"

	"fossick/internal/page"
)

// maxHead bounds how much of a saved page is searched for its address.
const maxHead = 64 << 10

// ownURLs are the addresses that the saved pages of one pass have: no two have the same.
type ownURLs map[uint64]struct{}

// of returns the address at which a saved page stood: what the program says that saved it,
// else what the page says of itself. It is "" where that is nothing, or what another page has
// said before.
func (o ownURLs) of(saved, page string) string {
	for _, claim := range append([]string{saved}, claimsOf(page)...) {
		if u := httpURL(claim); u != "" {
			return o.take(u)
		}
	}
	return ""
}

func (o ownURLs) take(u string) string {
	key := page.Key(u)
	if _, taken := o[key]; taken {
		return ""
	}
	o[key] = struct{}{}
	return u
}

// httpURL returns a whole address of the web in normal form, "" of anything else.
func httpURL(raw string) string {
	if raw = strings.TrimSpace(raw); !strings.Contains(raw, "://") {
		return ""
	}
	u, err := Key(raw)
	if err != nil {
		return ""
	}
	return u
}

// claimsOf returns what a page says of its address, the most trustworthy first: a browser's
// comment, the canonical address, that for others to link to, and a base that is no folder.
func claimsOf(text string) []string {
	var comment, canonical, og, base string
	z := html.NewTokenizer(strings.NewReader(text[:min(len(text), maxHead)]))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return []string{comment, canonical, og, base}
		case html.CommentToken:
			if comment == "" {
				comment = savedFrom(string(z.Text()))
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			switch {
			case t.Data == "body":
				return []string{comment, canonical, og, base}
			case t.Data == "link" && canonical == "" && hasWord(attr(t, "rel"), "canonical"):
				canonical = attr(t, "href")
			case t.Data == "meta" && og == "" && strings.EqualFold(attr(t, "property"), "og:url"):
				og = attr(t, "content")
			case t.Data == "base" && base == "":
				if href := attr(t, "href"); !strings.HasSuffix(href, "/") {
					base = href
				}
			}
		}
	}
}

func attr(t html.Token, key string) string {
	for _, a := range t.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func hasWord(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if strings.EqualFold(w, word) {
			return true
		}
	}
	return false
}

// savedFrom reads the comment that a browser or a mirroring program leaves in a page:
//
//	saved from url=(0023)https://example.org/    browsers; the number is the length
//	Page saved with SingleFile … url: https://example.org/
//	Mirrored from example.org/ by HTTrack …
func savedFrom(comment string) string {
	comment = strings.TrimSpace(comment)
	if rest, ok := strings.CutPrefix(comment, "saved from url=("); ok {
		_, u, _ := strings.Cut(rest, ")")
		return firstWord(u)
	}
	if strings.HasPrefix(comment, "Page saved with SingleFile") {
		_, u, _ := strings.Cut(comment, "url:")
		return firstWord(u)
	}
	if rest, ok := strings.CutPrefix(comment, "Mirrored from "); ok && strings.Contains(rest, "HTTrack") {
		return "http://" + firstWord(rest)
	}
	return ""
}

func firstWord(text string) string {
	if words := strings.Fields(text[:min(len(text), maxHead)]); len(words) > 0 {
		return words[0]
	}
	return ""
}

// isCompanion says whether a folder holds what a browser saved with a page beside it: "bees_files"
// (or -Dateien, .fld and what other languages say) with "bees.html".
func isCompanion(dir string) bool {
	name := filepath.Base(dir)
	at := strings.LastIndexAny(name, "_-.")
	if at <= 0 {
		return false
	}
	for _, ext := range []string{".html", ".htm", ".xhtml"} {
		if _, err := os.Stat(filepath.Join(filepath.Dir(dir), name[:at]+ext)); err == nil {
			return true
		}
	}
	return false
}
