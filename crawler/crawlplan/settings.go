package crawlplan

import (
	"cmp"
	"strings"
)

// Settings are the flags of a crawl. A zero value means "not given": then a resumed
// crawl takes what its store remembers, and a new one the default. Help has the groups of
// flags in this order.
type Settings struct {
	Goal
	Network
	Scoring
	Budget
	scope
	Manners
}

// A setting is one flag of two crawls: of this one, and of the one that it goes on with.
type setting struct {
	name    string // of the flag; "" where another setting tells it already
	without string // what holds when it is not given; "" when it does not apply then
	text    string // as it was given, "" when it was not
	inherit func() // takes it over when this crawl leaves it open
}

// of makes a setting of a value that is zero when it was not given.
func of[T comparable](name, without string, own, saved *T, text func(T) string) setting {
	s := setting{name: name, without: without, inherit: func() { *own = cmp.Or(*own, *saved) }}
	if *own != *new(T) {
		s.text = text(*own)
	}
	return s
}

// listOf makes a setting of a list that is nil when it was not given.
func listOf(name string, own, saved *[]string) setting {
	return setting{name: name, text: strings.Join(*own, ", "), inherit: func() {
		if *own == nil {
			*own = *saved
		}
	}}
}

// all lists the settings of all kinds.
func (s *Settings) all(saved *Settings) (all []setting) {
	for _, kind := range [][]setting{
		s.Goal.settings(&saved.Goal), s.Network.settings(&saved.Network), s.Scoring.settings(&saved.Scoring),
		s.Budget.settings(&saved.Budget), s.scope.settings(&saved.scope), s.Manners.settings(&saved.Manners),
	} {
		all = append(all, kind...)
	}
	return all
}

// inherit takes over from saved what s leaves open.
func (s *Settings) inherit(saved *Settings) {
	for _, one := range s.all(saved) {
		one.inherit()
	}
}

// Applied returns the settings that held in a crawl, given or by default, by the names
// of the flags.
func (s *Settings) Applied() map[string]string {
	facts := map[string]string{}
	for _, one := range s.all(s) {
		if text := cmp.Or(one.text, one.without); text != "" && one.name != "" {
			facts[one.name] = text
		}
	}
	if s.Parties {
		facts["order"] = surveyOrder
		delete(facts, "patience")
		if s.MaxPages == 0 {
			delete(facts, "max-pages")
		}
	}
	return facts
}

// How values of several kinds are told.

func itself(text string) string { return text }

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// pointed tells what a pointer leads to.
func pointed[T any](text func(T) string) func(*T) string {
	return func(v *T) string { return text(*v) }
}
