package story

import (
	"io"

	"fossick/internal/printable"
	"fossick/internal/terminal"
	"fossick/store"
)

// Topic is what one of several topics says of a page.
type Topic struct {
	Name     string  `json:"name"`
	Score    float64 `json:"score"` // of the page
	Relevant bool    `json:"relevant"`
	Expected float64 `json:"expected"`         // that it would be on topic, when it was asked for
	Paid     float64 `json:"paid"`             // the topic's share of the page
	Rule     string  `json:"rule,omitempty"`   // why it is on topic
	Marked   *Mark   `json:"marked,omitempty"` // by a person, for this topic
}

// topicsOf tells what the topics that share a crawl say of a page; names are theirs.
func topicsOf(l *store.Life, names []string) (said []Topic) {
	if l.Page == nil {
		return nil
	}
	for i, v := range l.Page.Topics {
		if i < len(names) {
			said = append(said, Topic{Name: names[i], Score: v.Score, Relevant: v.Relevant, Expected: v.Expected, Paid: v.Paid, Rule: v.Rule})
		}
	}
	return said
}

func printTopics(w io.Writer, topics []Topic) {
	for _, t := range topics {
		printable.Fprintf(w, "  topic    %-20s %.4f, expected %.4f, paid %.2f", t.Name, t.Score, t.Expected, t.Paid)
		if t.Relevant {
			io.WriteString(w, ": ")
			terminal.Fprint(w, "on topic", terminal.Green)
		}
		switch {
		case t.Marked != nil:
			printable.Fprintf(w, ", marked %s by a person", t.Marked.Label)
		case t.Relevant && t.Rule != "":
			printable.Fprintf(w, ", for %s", mainReason(t.Rule))
		}
		io.WriteString(w, "\n")
	}
}
