package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fossick/datasets"
	"fossick/train"
)

// Level says which of a row's labels is its class.
type Level struct {
	N    int
	Set  bool // it was asked for
	Both bool // theme and category, one after the other
}

// UnmarshalText reads theme, category, both or a number from 0.
func (l *Level) UnmarshalText(text []byte) error {
	l.Set = true
	switch s := string(text); s {
	case "both":
		l.Both = true
	case string(train.Theme):
		l.N = 0
	case string(train.Category):
		l.N = 1
	default:
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 {
			return fmt.Errorf("%q: want theme, category, both, or the number of a label from 0", s)
		}
		l.N = n
	}
	return nil
}

// Themes put the labels of a set with one level under themes.
type Themes struct {
	rules []themeRule
}

type themeRule struct {
	label  string // a whole one, or
	prefix bool   // its beginning
	theme  string
}

// newsgroups are the top groups of 20 Newsgroups; soc and alt have two groups, both
// on religion, and go together.
const newsgroups = "comp.*=comp,rec.*=rec,sci.*=sci,talk.*=talk,soc.*=soc-alt,alt.*=soc-alt,misc.*=misc"

// UnmarshalText reads label=theme by comma, where a label may end in * for all that
// begin so, or the word newsgroups.
func (t *Themes) UnmarshalText(text []byte) error {
	s := string(text)
	if s == "newsgroups" {
		s = newsgroups
	}
	for item := range strings.SplitSeq(s, ",") {
		label, theme, ok := strings.Cut(strings.TrimSpace(item), "=")
		prefix := strings.HasSuffix(label, "*")
		label = strings.TrimSuffix(label, "*")
		if !ok || theme == "" || label == "" && !prefix {
			return fmt.Errorf("%q: want label=theme by comma, as in comp.*=comp, or newsgroups", item)
		}
		t.rules = append(t.rules, themeRule{label, prefix, theme})
	}
	return nil
}

// of returns the theme of a label by the first rule that fits, else the label.
func (t *Themes) of(label string) string {
	i := slices.IndexFunc(t.rules, func(r themeRule) bool {
		return label == r.label || r.prefix && strings.HasPrefix(label, r.label)
	})
	if i < 0 {
		return label
	}
	return t.rules[i].theme
}

// apply gives rows their theme as first label and what they had as second.
func (t *Themes) apply(rows datasets.Stream, l Level) datasets.Stream {
	if len(t.rules) == 0 {
		return rows
	}
	return datasets.Map(rows, func(e *datasets.Example) *datasets.Example {
		if e.Label == "" {
			return e
		}
		labels := []string{t.of(e.Label), e.Label}
		return e.Labelled(labels[min(l.N, 1)], labels...)
	})
}

// relabel renames rows and gives them their themes, as the plan says.
func (p *Plan) relabel(rows datasets.Stream) datasets.Stream {
	rows = p.Themes.apply(p.Rename.apply(rows), p.Level)
	if p.Pairs {
		rows = datasets.Only(rows, func(e *datasets.Example) bool { return len(e.Labels) > 1 })
	}
	return rows
}
