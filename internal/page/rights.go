package page

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Purpose is a use of pages. Owners of sites state which they refuse: in robots.txt and tdmrep.json,
// header fields, meta elements and links to licences. Known are Content-Signal (contentsignals.org),
// Content-Usage (draft-ietf-aipref-attach), robots.txt tokens for uses instead of crawlers, noai,
// noimageai and noarchive in X-Robots-Tag and meta robots, and the TDM Reservation Protocol;
// docs/politeness.md has the table. Without a statement nothing is refused.
type Purpose string

const (
	ForSearch   Purpose = "search"   // an index that links to the page
	ForTraining Purpose = "training" // training of models
	ForResearch Purpose = "research" // text and data mining
	ForArchive  Purpose = "archive"  // copies for other readers
)

func purposes() []Purpose { return []Purpose{ForSearch, ForTraining, ForResearch, ForArchive} }

// ParsePurpose parses a purpose's name.
func ParsePurpose(name string) (Purpose, error) {
	if p := Purpose(strings.ToLower(name)); slices.Contains(purposes(), p) {
		return p, nil
	}
	return "", fmt.Errorf("%q is not a purpose; give search, training, research or archive", name)
}

// Mines reports whether TDM reservations (text and data mining) apply to the purpose.
func (p Purpose) Mines() bool { return p == ForTraining || p == ForResearch }

// Statement is an owner's statement with its place, "robots.txt: content-signal ai-train=no".
type Statement string

// Said makes a statement from its place, a field's name and its value.
func Said(where, name, value string) Statement {
	const longest = 300
	value = strings.Join(strings.Fields(value), " ")
	return Statement(where + ": " + strings.ToLower(name) + " " + strings.ToValidUTF8(value[:min(len(value), longest)], ""))
}

func (s Statement) parts() (name, value string) {
	_, rest, _ := strings.Cut(string(s), ": ")
	name, value, _ = strings.Cut(rest, " ")
	return name, value
}

// UseTokens maps robots.txt tokens for uses, not crawlers, to the purposes that they refuse.
var UseTokens = map[string]Purpose{"google-extended": ForTraining, "applebot-extended": ForTraining}

// Refusing signals (as list items with "=no" or "=n") and directives, with the purposes refused.
var (
	signals = map[string][]Purpose{
		"search": {ForSearch}, "ai-train": {ForTraining}, // Content-Signal; its ai-input is no purpose here
		"train-ai": {ForTraining}, "bots": purposes(), // Content-Usage
	}
	directives = map[string][]Purpose{
		"noai": {ForTraining}, "noarchive": {ForArchive}, // noimageai is not needed: no picture is fetched
	}
)

// refuses reports whether a statement refuses a purpose; an unknown statement does not.
func (s Statement) refuses(p Purpose) bool {
	name, value := s.parts()
	value = strings.ToLower(value)
	switch name {
	case "content-signal", "content-usage":
		for _, word := range rightsList(value) {
			key, answer, _ := strings.Cut(word, "=")
			if no := strings.TrimSpace(answer); no == "no" || no == "n" || no == "?0" {
				if slices.Contains(signals[strings.TrimSpace(key)], p) {
					return true
				}
			}
		}
	case "robots", "x-robots-tag":
		for _, word := range rightsList(value) {
			if slices.Contains(directives[word], p) {
				return true
			}
		}
	case "tdm-reservation":
		return value == "1" && p.Mines()
	case "user-agent":
		return UseTokens[value] == p
	}
	return false
}

func rightsList(value string) []string {
	return strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ';' || r == ' ' })
}

// Refusal returns the first statement that refuses a purpose, or "", also for the empty purpose.
func Refusal(said []Statement, p Purpose) Statement {
	for _, s := range said {
		if p != "" && s.refuses(p) {
			return s
		}
	}
	return ""
}

// Licence returns the first licence named, or "".
func Licence(said []Statement) string {
	for _, s := range said {
		if name, value := s.parts(); name == "license" {
			return value
		}
	}
	return ""
}

// headers lists header fields with statements, besides X-Robots-Tag.
var headers = []string{"Content-Signal", "Content-Usage", "Tdm-Reservation", "Tdm-Policy"}

const mostHeaders = 16

// RightsInHeader returns the statements in an answer's header; Parse reads X-Robots-Tag, whose lines may
// be for other robots.
func RightsInHeader(h http.Header) (said []Statement) {
	for _, name := range headers {
		for _, value := range h[name] {
			if value = strings.TrimSpace(value); value != "" && len(said) < mostHeaders {
				said = append(said, Said("header", name, value))
			}
		}
	}
	return said
}
