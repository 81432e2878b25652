package main

import (
	"golang.org/x/text/language"

	"fossick/page"
)

// languageCodes turns --lang into ISO 639-1 codes.
func languageCodes(tags []string) ([]string, error) {
	var codes []string
	for _, tag := range tags {
		code := page.LangCode(tag)
		if _, err := language.ParseBase(code); code == "" || err != nil {
			return nil, usagef("--lang %s: no such language; give ISO 639-1 codes by comma, as en,de", tag)
		}
		codes = append(codes, code)
	}
	return codes, nil
}
