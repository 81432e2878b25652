package monitor

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"fossick/internal/printable"
	"fossick/internal/report"
	"fossick/store"
)

// Goal is one of several topics of a crawl.
type Goal struct {
	Name  string
	Pages float64 // its part of --max-pages
}

// Topic is what came of one of several topics, as JSON has it. Every stored page counts
// as fetched for each, for each has judged it.
type Topic struct {
	Fetched  uint64   `json:"fetched"`
	Relevant uint64   `json:"relevant"`
	Harvest  *float64 `json:"harvest"`
	Budget   float64  `json:"budget"` // pages that it may pay for
	Paid     float64  `json:"paid"`   // its shares of pages; see docs/topics.md
}

// topicsOf returns the topics' part of the counts, nil of one topic alone.
func topicsOf(goals []Goal, n store.Counts) map[string]Topic {
	if len(goals) == 0 {
		return nil
	}
	all := map[string]Topic{}
	for i, g := range goals {
		var c store.TopicCounts
		if i < len(n.Topics) {
			c = n.Topics[i]
		}
		all[g.Name] = Topic{
			Fetched: n.Pages, Relevant: c.Relevant, Harvest: harvestOf(store.Counts{Pages: n.Pages, Relevant: c.Relevant}),
			Budget: hundredths(g.Pages), Paid: hundredths(c.Paid),
		}
	}
	return all
}

func hundredths(x float64) float64 { return math.Round(100*x) / 100 }

// printTopics prints a row a topic.
func (r *Result) printTopics(w io.Writer) {
	if len(r.goals) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	io.WriteString(t, "topic\ton topic\tof all\tpaid\tof\t\n")
	for _, g := range r.goals {
		row := r.Topics[g.Name]
		share := "–"
		if row.Harvest != nil {
			share = report.Percent(*row.Harvest)
		}
		printable.Fprintf(t, "%s\t%d\t%s\t%.0f\t%.0f\t\n", g.Name, row.Relevant, share, row.Paid, row.Budget)
	}
	_ = t.Flush() // its only errors are w's
}

// lineTopics is the topics' part of the status line, "" of one topic alone.
func lineTopics(names []string, n store.Counts) (text string) {
	for i, name := range names {
		if i > 0 {
			text += ", "
		}
		found := uint64(0)
		if i < len(n.Topics) {
			found = n.Topics[i].Relevant
		}
		text += fmt.Sprintf("%s %d", name, found)
	}
	return text
}
