package story

import (
	"fmt"
	"time"

	"fossick/store"
)

// Mark is what a person said of a URL.
type Mark struct {
	Label string    `json:"label"` // yes or no
	At    time.Time `json:"at"`
}

// tellMark says what a person said.
func (r *Story) tellMark(l *store.Life) {
	if l.Mark == nil {
		return
	}
	r.Marked = &Mark{"no", at(l.Mark.At)}
	if l.Mark.OnTopic {
		r.Marked.Label = "yes"
	}
	r.Reasons = append(r.Reasons, fmt.Sprintf("%s at %s, which overrules the model", l.Mark, r.Marked.At.Format(time.DateTime)))
}
