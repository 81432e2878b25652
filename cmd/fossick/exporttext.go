package main

import (
	"strings"

	"fossick/export"
	"fossick/internal/maintext"
	"fossick/internal/page"
)

// mainText returns a page's main text, or all of its text if it is not HTML.
func mainText(body []byte, p *export.Page, want export.Want) (text, markdown string) {
	decoded, plain, err := page.Decode(body, p.ContentType)
	if err != nil {
		return "", "" // it has no words
	}
	if plain {
		text = strings.TrimSpace(string(decoded))
		return text, text
	}
	m := maintext.Extract(decoded)
	if want.Text {
		text = m.Text()
	}
	if want.Markdown {
		markdown = m.Markdown(absolute(p.URL))
	}
	return text, markdown
}

// absolute returns a function that resolves a page's links; links within the page become "".
func absolute(url string) func(href string) string {
	base, err := standard.Base(url)
	return func(href string) string {
		if err != nil || strings.HasPrefix(href, "#") {
			return ""
		}
		full, err := standard.Resolve(base, href)
		if err != nil {
			return ""
		}
		return full
	}
}

var standard = page.NewNormalizer(nil)
