package story

import (
	"fmt"
	"strings"
	"time"

	"fossick/store"
)

// Mark is what a person said of a URL.
type Mark struct {
	Label string    `json:"label"` // yes or no
	At    time.Time `json:"at"`
}

func markOf(m store.Mark) *Mark {
	if m.OnTopic {
		return &Mark{"yes", at(m.At)}
	}
	return &Mark{"no", at(m.At)}
}

// tellMark says what a person said.
func (r *Story) tellMark(l *store.Life) {
	if l.Mark == nil {
		return
	}
	r.Marked = markOf(*l.Mark)
	r.Reasons = append(r.Reasons, fmt.Sprintf("%s at %s, which overrules the model", l.Mark, r.Marked.At.Format(time.DateTime)))
}

// tellMarks has a story say what people said for topics that share the crawl, whose names
// these are.
func tellMarks(r *Story, l *store.Life, names []string) {
	var said []string
	for _, m := range l.Marks {
		if m.Topic > len(names) {
			continue
		}
		name, mark := names[m.Topic-1], markOf(m)
		if m.Topic <= len(r.Topics) {
			r.Topics[m.Topic-1].Marked = mark
		}
		said = append(said, fmt.Sprintf("%s for %s", mark.Label, name))
		r.Reasons = append(r.Reasons, fmt.Sprintf("for %s %s at %s, which overrules the model", name, m, mark.At.Format(time.DateTime)))
	}
	if len(said) > 0 {
		r.marked = "marked " + strings.Join(said, ", ") + " by a person"
	}
}
