package change

import (
	"regexp"
	"strings"
)

// dates are what a page says of the day and the time: numbers with separators, times of the
// day, and days, months and years in words of some languages.
var dates = regexp.MustCompile(`(?i)\b(?:` +
	`\d{4}-\d{1,2}-\d{1,2}(?:T[\d:.]+Z?)?` +
	`|\d{1,2}[./]\d{1,2}[./]\d{2,4}` +
	`|\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]\.?m\b\.?)?` +
	`|(?:mon|tues|wednes|thurs|fri|satur|sun)day,?\s+(?:` + monthDay + `)` +
	`|` + monthDay +
	`)`)

const (
	month    = `(?:jan(?:uary|uar|vier)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz|apr(?:il)?|may|mai|june?|juni|july?|juli|aug(?:ust)?|sep(?:t(?:ember)?)?|o[ck]t(?:ober|obre)?|nov(?:ember|embre)?|de[cz](?:ember|embre)?)\b\.?`
	monthDay = `\d{1,2}(?:st|nd|rd|th|\.)?\s+` + month + `(?:,?\s+\d{4}\b)?|` + month + `\s+\d{1,2}(?:st|nd|rd|th)?\b(?:,?\s+\d{4}\b)?|` + month + `\s+\d{4}`
)

// SameText says whether two main texts differ at most in blanks, and in dates and times: a
// page that only says that it was looked at today has not changed.
func SameText(a, b string) bool {
	return a == b || plain(a) == plain(b)
}

func plain(text string) string {
	return strings.Join(strings.Fields(dates.ReplaceAllString(text, " ")), " ")
}
