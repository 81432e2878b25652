package change

import (
	"regexp"
	"slices"
	"strings"
)

// Kind says what a visit found changed.
type Kind byte

// The kinds of change. A changed text implies a changed content.
const (
	None    Kind = iota // as it was, or no page
	Content             // the bytes; main text as it was: an advert, a date, a menu
	Text                // the main text
	Unsure              // the bytes; of the main text nobody knows
)

// Changed says whether the bytes had changed.
func (k Kind) Changed() bool { return k != None }

// Visit is one exchange for a page that had been fetched before.
type Visit struct {
	At     int64  // when it began, Unix milliseconds
	Took   int64  // until the last byte, milliseconds
	Rest   int64  // that the host was due afterwards, milliseconds
	State  string // network state (paper E, E3), one of States
	Change Kind

	Code       int    // of the answer; 0 where there is none
	To         uint64 // number of the URL that a redirect led to; 0 for none
	RetryAfter int64  // that the answer asked for, milliseconds
	Own        int64  // of Rest, what binds the host alone and no other at its address

	// Modified is Last-Modified, Unix seconds, no later than the visit. 0 where none was told;
	// where nothing had changed, also where it was as before.
	Modified int64
}

// states are those that a History can keep. Their places are on disk: new ones go to the end.
var states = []string{
	"ok", "not_modified", "redirect", "duplicate", "code", "no_ip", "connect_error", "connect_timeout", "tls_error",
	"header_error", "header_timeout", "body_error", "body_timeout", "too_large", "wrong_type", "robots_denied", "guard_denied", "trap", "none",
}

// Downloaded says whether a visit in this state found the page where it was asked for.
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

// Downloads counts pages by how often they could be had: Downloads[n] is |S(n)|, those
// downloaded in exactly n of N crawls, n from 0 to N (paper E, E6).
type Downloads []int

// SS is the chance that a success is followed by a success (paper E, eq. 1):
//
//	SS = 1/(S − |S(0)|) · 1/(N−1) · Σ_{i=1..N} |S(i)| · (i−1)
//
// where S is the number of all pages. It is a mean over the pages that succeeded at all, and does
// not see the order of the crawls. It is not known (false) of fewer than two crawls, or without a
// success.
func (d Downloads) SS() (chance float64, ok bool) {
	n := len(d) - 1
	pages, sum := 0, 0
	for i := 1; i <= n; i++ {
		pages += d[i]
		sum += d[i] * (i - 1)
	}
	return follow(sum, pages, n)
}

// FF is the chance that a failure is followed by a failure (paper E, eq. 2):
//
//	FF = 1/(S − |S(N)|) · 1/(N−1) · Σ_{i=0..N−1} |S(i)| · (N−1−i)
//
// False as of SS, where no visit failed.
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
