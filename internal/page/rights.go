package page

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/dunglas/httpsfv"
)

// Purpose is a use of pages. Owners of sites state which they refuse: in robots.txt and tdmrep.json,
// header fields, meta elements and links to licences. Known are Content-Signal (contentsignals.org),
// Content-Usage (draft-ietf-aipref-attach-05, draft-ietf-aipref-vocab-08), robots.txt tokens for uses
// instead of crawlers, noai, noimageai and noarchive in X-Robots-Tag and meta robots, and the TDM
// Reservation Protocol; docs/politeness.md has the table. Without a statement nothing is refused.
type Purpose string

const (
	ForSearch   Purpose = "search"   // an index that links to the page
	ForAnswer   Purpose = "answer"   // answers that a model writes from pages it retrieves
	ForTraining Purpose = "training" // training of models
	ForResearch Purpose = "research" // text and data mining
	ForArchive  Purpose = "archive"  // copies for other readers
)

func purposes() []Purpose {
	return []Purpose{ForSearch, ForAnswer, ForTraining, ForResearch, ForArchive}
}

// ParsePurpose parses a purpose's name.
func ParsePurpose(name string) (Purpose, error) {
	if p := Purpose(strings.ToLower(name)); slices.Contains(purposes(), p) {
		return p, nil
	}
	return "", fmt.Errorf("%q is not a purpose; give search, answer, training, research or archive", name)
}

// Mines reports whether TDM reservations (text and data mining) apply to the purpose.
func (p Purpose) Mines() bool { return p == ForTraining || p == ForResearch || p == ForAnswer }

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
var UseTokens = map[string][]Purpose{"google-extended": {ForTraining, ForAnswer}, "applebot-extended": {ForTraining}}

// Categories of use, with their purposes, and directives, with the purposes that they refuse.
var (
	categories = map[string][]Purpose{
		"search":   {ForSearch},
		"ai-input": {ForAnswer}, "ai-train": {ForTraining}, // Content-Signal
		"ai-use": {ForAnswer}, "train-ai": {ForTraining}, // Content-Usage
		"bots": purposes(), // Content-Usage before vocab-05
	}
	directives = map[string][]Purpose{
		"noai": {ForTraining}, "noarchive": {ForArchive}, // noimageai is not needed: no picture is fetched
	}
)

// refuses reports whether a statement refuses a purpose; an unknown statement does not.
func (s Statement) refuses(p Purpose) bool {
	name, value := s.parts()
	switch lower := strings.ToLower(value); name {
	case "content-signal", "content-usage":
		_, no := preferences(value, name == "content-usage", p)
		return no
	case "robots", "x-robots-tag":
		for _, word := range rightsList(lower) {
			if slices.Contains(directives[word], p) {
				return true
			}
		}
	case "tdm-reservation":
		return value == "1" && p.Mines()
	case "user-agent":
		return slices.Contains(UseTokens[lower], p)
	}
	return false
}

// preferences reports whether a list of categories allows a purpose and whether it refuses it. It may be read
// as a dictionary (RFC 9651), where the last value of a category counts. The drafts ignore what is no
// dictionary; here it is read word by word, since an owner who writes "Train-AI=n" means it.
func preferences(list string, dictionary bool, p Purpose) (yes, no bool) {
	take := func(category, answer string) {
		if slices.Contains(categories[category], p) {
			yes = yes || answer == "y" || answer == "yes" || answer == "?1"
			no = no || answer == "n" || answer == "no" || answer == "?0"
		}
	}
	if all, err := httpsfv.UnmarshalDictionary([]string{list}); err == nil && dictionary {
		for _, category := range all.Names() {
			member, _ := all.Get(category)
			if item, ok := member.(httpsfv.Item); ok {
				switch answer := item.Value.(type) {
				case httpsfv.Token:
					take(category, strings.ToLower(string(answer)))
				case bool:
					if !answer { // "train-ai" alone says nothing
						take(category, "?0")
					}
				}
			}
		}
		return yes, no
	}
	for _, word := range rightsList(strings.ToLower(list)) {
		category, answer, _ := strings.Cut(word, "=")
		take(category, answer)
	}
	return yes, no
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

// Terms returns the licence named nearest to the page (in it, in its header, in robots.txt), and the
// preferences of all statements as a Content-Usage dictionary: a use is refused if one refuses it, else
// allowed if one allows it. Either is "" if nothing is said.
func Terms(said []Statement) (licence, usage string) {
	allowed := map[Purpose]bool{}
	best := 0
	for _, s := range said {
		switch name, value := s.parts(); name {
		case "license":
			if n := s.nearness(); n > best {
				licence, best = value, n
			}
		case "content-signal", "content-usage":
			for _, p := range purposes() {
				yes, _ := preferences(value, name == "content-usage", p)
				allowed[p] = allowed[p] || yes
			}
		}
	}
	var all []string
	for _, c := range []struct {
		name string
		p    Purpose
	}{{"train-ai", ForTraining}, {"ai-use", ForAnswer}, {"search", ForSearch}} {
		switch {
		case Refusal(said, c.p) != "":
			all = append(all, c.name+"=n")
		case allowed[c.p]:
			all = append(all, c.name+"=y")
		}
	}
	return licence, strings.Join(all, ", ")
}

// nearness is greater the nearer a statement stands to the page.
func (s Statement) nearness() int {
	switch where, _, _ := strings.Cut(string(s), ": "); where {
	case "robots.txt":
		return 1
	case "header":
		return 2
	}
	return 3
}

// headers lists header fields with statements, besides X-Robots-Tag.
var headers = []string{"Content-Signal", "Content-Usage", "Tdm-Reservation", "Tdm-Policy"}

const mostHeaders = 16

// RightsInHeader returns the statements in the header of the answer for a URL; Parse reads X-Robots-Tag,
// whose lines may be for other robots.
func RightsInHeader(h http.Header, url string) (said []Statement) {
	add := func(name, value string) {
		if value != "" && len(said) < mostHeaders {
			said = append(said, Said("header", name, value))
		}
	}
	for _, name := range headers {
		for _, value := range h[name] {
			add(name, strings.TrimSpace(value))
		}
	}
	for _, value := range h["Link"] {
		for _, licence := range licences(value, url) {
			add("license", licence)
		}
	}
	return said
}

// licences returns the targets with rel=license in a Link field (RFC 8288) of the answer for a URL.
func licences(field, from string) (found []string) {
	base, err := url.Parse(from)
	if err != nil {
		return nil
	}
	for {
		_, rest, ok := strings.Cut(field, "<")
		if !ok {
			return found
		}
		target, rest, ok := strings.Cut(rest, ">")
		if !ok {
			return found
		}
		var params string
		params, field = cutUnquoted(rest, ',')
		rel := ""
		for params != "" && rel == "" { // the first rel counts
			var param string
			param, params = cutUnquoted(params, ';')
			if name, value, ok := strings.Cut(param, "="); ok && strings.EqualFold(strings.TrimSpace(name), "rel") {
				rel = strings.ToLower(strings.Trim(strings.TrimSpace(value), `"`))
			}
		}
		if !slices.Contains(strings.Fields(rel), "license") {
			continue
		}
		if u, err := base.Parse(strings.TrimSpace(target)); err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" {
			found = append(found, u.String())
		}
	}
}

// cutUnquoted cuts a text at the first separator outside of quoted strings.
func cutUnquoted(text string, separator byte) (before, after string) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch {
		case quoted && text[i] == '\\':
			i++
		case text[i] == '"':
			quoted = !quoted
		case text[i] == separator && !quoted:
			return text[:i], text[i+1:]
		}
	}
	return text, ""
}
