package change

import (
	"regexp"
	"slices"
	"strings"
)

// Kind classifies the change that a visit found.
type Kind byte

// Kinds of change. A changed text implies changed content.
const (
	None    Kind = iota // unchanged, or no page
	Content             // the bytes, but not the main text: an advert, a date, a menu
	Text                // the main text
	Unsure              // the bytes; the main text is unknown
)

// Changed reports whether the bytes changed.
func (k Kind) Changed() bool { return k != None }

// Visit is one exchange for a page fetched before.
type Visit struct {
	At     int64  // start, Unix milliseconds
	Took   int64  // duration until the last byte, milliseconds
	Rest   int64  // politeness delay of the host afterwards, milliseconds
	State  string // network state (paper E, E3), one of states
	Change Kind

	Code       int    // HTTP status; 0 without an answer
	To         uint64 // ID of a redirect's target; 0 for none
	RetryAfter int64  // of the answer, milliseconds
	Own        int64  // part of Rest that applies to this host alone, not to others at its address

	// Modified is Last-Modified, Unix seconds; 0 if not sent, or if neither it nor the page
	// changed.
	Modified int64
}

// states lists the states that a History can hold. Their indices are on disk: append new ones.
var states = []string{
	"ok", "not_modified", "redirect", "duplicate", "code", "no_ip", "connect_error", "connect_timeout", "tls_error",
	"header_error", "header_timeout", "body_error", "body_timeout", "too_large", "wrong_type", "robots_denied", "guard_denied", "trap", "none",
	"no_text", "challenge", "payment_required",
}

// Downloaded reports whether a visit in this state found the page at the requested URL.
func Downloaded(state string) bool {
	i := slices.Index(states, state)
	return i == 0 || i == 1 || i == 3
}

func usual(state byte) int {
	switch states[state] {
	case "ok", "duplicate":
		return 200
	case "not_modified":
		return 304
	}
	return 0
}

// Downloads counts pages by number of downloads: Downloads[n] is |S(n)|, the pages downloaded in
// exactly n of N crawls, n from 0 to N (paper E, E6).
type Downloads []int

// SS returns the chance that a success is followed by a success (paper E, eq. 1):
//
//	SS = 1/(S − |S(0)|) · 1/(N−1) · Σ_{i=1..N} |S(i)| · (i−1)
//
// where S is the number of all pages. It is a mean over the pages that succeeded at all and ignores
// the order of the crawls. ok is false for fewer than two crawls or without a success.
func (d Downloads) SS() (chance float64, ok bool) {
	n := len(d) - 1
	pages, sum := 0, 0
	for i := 1; i <= n; i++ {
		pages += d[i]
		sum += d[i] * (i - 1)
	}
	return follow(sum, pages, n)
}

// FF returns the chance that a failure is followed by a failure (paper E, eq. 2):
//
//	FF = 1/(S − |S(N)|) · 1/(N−1) · Σ_{i=0..N−1} |S(i)| · (N−1−i)
//
// ok is false for fewer than two crawls or without a failure.
func (d Downloads) FF() (chance float64, ok bool) {
	n := len(d) - 1
	pages, sum := 0, 0
	for i := range n {
		pages += d[i]
		sum += d[i] * (n - 1 - i)
	}
	return follow(sum, pages, n)
}

func follow(sum, pages, crawls int) (float64, bool) {
	if crawls < 2 || pages == 0 {
		return 0, false
	}
	return float64(sum) / float64(pages) / float64(crawls-1), true
}

// dates matches dates and times, in digits and in words of some languages.
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

// SameText reports whether two main texts are equal except for spaces, dates and times.
func SameText(a, b string) bool {
	return a == b || plain(a) == plain(b)
}

func plain(text string) string {
	return strings.Join(strings.Fields(dates.ReplaceAllString(text, " ")), " ")
}
