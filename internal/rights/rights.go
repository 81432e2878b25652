package rights

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Purpose is a use of pages.
type Purpose string

// The purposes.
const (
	Search   Purpose = "search"   // an index that leads to the page
	Training Purpose = "training" // of models
	Research Purpose = "research" // text and data mining
	Archive  Purpose = "archive"  // copies that others may read
)

// purposes are all of them.
func purposes() []Purpose { return []Purpose{Search, Training, Research, Archive} }

// Parse reads a purpose's name.
func Parse(name string) (Purpose, error) {
	if p := Purpose(strings.ToLower(name)); slices.Contains(purposes(), p) {
		return p, nil
	}
	return "", fmt.Errorf("%q is not a purpose; give search, training, research or archive", name)
}

// Mines says whether TDM reservations are about the purpose: text and data mining.
func (p Purpose) Mines() bool { return p == Training || p == Research }

// Statement is an owner's sentence about a page's use, and its place: "robots.txt: content-signal
// ai-train=no".
type Statement string

// Said makes a statement of where it was found, a field's name and its value.
func Said(where, name, value string) Statement {
	const longest = 300
	value = strings.Join(strings.Fields(value), " ")
	return Statement(where + ": " + strings.ToLower(name) + " " + strings.ToValidUTF8(value[:min(len(value), longest)], ""))
}

// parts cuts a statement into field and value.
func (s Statement) parts() (name, value string) {
	_, rest, _ := strings.Cut(string(s), ": ")
	name, value, _ = strings.Cut(rest, " ")
	return name, value
}

// Uses are the tokens by which robots.txt speaks to a use of pages and to no crawler. Where
// they may not fetch a page, that use is refused.
var Uses = map[string]Purpose{"google-extended": Training, "applebot-extended": Training}

// refused are the values that refuse something, by field, with the purposes refused. "" is a field's
// value as a whole, else it is the words of a list with "=no" or "=n".
var (
	signals = map[string][]Purpose{
		"search": {Search}, "ai-train": {Training}, // Content-Signal; ai-input is no purpose here
		"train-ai": {Training}, "bots": purposes(), // Content-Usage
	}
	directives = map[string][]Purpose{
		"noai": {Training}, "noarchive": {Archive}, // noimageai: no picture is ever fetched
	}
)

// refuses says whether a statement refuses a purpose. A statement that is not understood
// refuses nothing.
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

// Refusal is the first statement that refuses a purpose, "" when none does. Without a purpose
// nothing is refused.
func Refusal(said []Statement, p Purpose) Statement {
	for _, s := range said {
		if p != "" && s.refuses(p) {
			return s
		}
	}
	return ""
}

// Licence is the first licence that is named, "" when none is.
func Licence(said []Statement) string {
	for _, s := range said {
		if name, value := s.parts(); name == "license" {
			return value
		}
	}
	return ""
}

// headers are the fields of an answer that say something, beside X-Robots-Tag.
var headers = []string{"Content-Signal", "Content-Usage", "Tdm-Reservation", "Tdm-Policy"}

// mostHeaders bounds what one answer may say.
const mostHeaders = 16

// OfHeader are the statements of an answer's header, without X-Robots-Tag, whose lines may
// be for other robots (package page reads those).
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
