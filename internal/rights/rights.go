package rights

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Purpose is a use of pages.
type Purpose string

const (
	Search   Purpose = "search"   // an index that links to the page
	Training Purpose = "training" // training of models
	Research Purpose = "research" // text and data mining
	Archive  Purpose = "archive"  // copies for other readers
)

func purposes() []Purpose { return []Purpose{Search, Training, Research, Archive} }

// Parse parses a purpose's name.
func Parse(name string) (Purpose, error) {
	if p := Purpose(strings.ToLower(name)); slices.Contains(purposes(), p) {
		return p, nil
	}
	return "", fmt.Errorf("%q is not a purpose; give search, training, research or archive", name)
}

// Mines reports whether TDM reservations (text and data mining) apply to the purpose.
func (p Purpose) Mines() bool { return p == Training || p == Research }

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

// Uses maps robots.txt tokens for uses, not crawlers, to the purposes that they refuse.
var Uses = map[string]Purpose{"google-extended": Training, "applebot-extended": Training}

// Refusing signals (as list items with "=no" or "=n") and directives, with the purposes refused.
var (
	signals = map[string][]Purpose{
		"search": {Search}, "ai-train": {Training}, // Content-Signal; its ai-input is no purpose here
		"train-ai": {Training}, "bots": purposes(), // Content-Usage
	}
	directives = map[string][]Purpose{
		"noai": {Training}, "noarchive": {Archive}, // noimageai is not needed: no picture is fetched
	}
)

// refuses reports whether a statement refuses a purpose; an unknown statement does not.
func (s Statement) refuses(p Purpose) bool {
	name, value := s.parts()
	value = strings.ToLower(value)
	switch name {
	case "content-signal", "content-usage":
		for _, word := range list(value) {
			key, answer, _ := strings.Cut(word, "=")
			if no := strings.TrimSpace(answer); no == "no" || no == "n" || no == "?0" {
				if slices.Contains(signals[strings.TrimSpace(key)], p) {
					return true
				}
			}
		}
	case "robots", "x-robots-tag":
		for _, word := range list(value) {
			if slices.Contains(directives[word], p) {
				return true
			}
		}
	case "tdm-reservation":
		return value == "1" && p.Mines()
	case "user-agent":
		return Uses[value] == p
	}
	return false
}

func list(value string) []string {
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

// OfHeader returns the statements in an answer's header. Package page reads X-Robots-Tag, whose
// lines may be for other robots.
func OfHeader(h http.Header) (said []Statement) {
	for _, name := range headers {
		for _, value := range h[name] {
			if value = strings.TrimSpace(value); value != "" && len(said) < mostHeaders {
				said = append(said, Said("header", name, value))
			}
		}
	}
	return said
}
