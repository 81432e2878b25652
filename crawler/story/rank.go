package story

import (
	"io"

	"fossick/internal/printable"
	"fossick/store"
)

// Rank is a page's rank in the graph of links.
type Rank struct {
	Method   string   `json:"method"`
	Personal string   `json:"personal"` // the label or file of a topic's ranks, "" when all pages count alike
	Score    float64  `json:"score"`    // share of all nodes' PageRank, or authority
	Hub      *float64 `json:"hub"`      // of hits alone
	Nodes    int      `json:"nodes"`    // that share it
}

// tellRank adds the page's rank, when it has one.
func (r *Story) tellRank(s *store.Store) error {
	if r.Page == nil {
		return nil
	}
	rank, ranking, err := s.Ranks().Of(*r.Page)
	if err != nil || rank == nil {
		return err
	}
	r.Rank = &Rank{Method: ranking.Method, Personal: ranking.Personal, Score: rank.Score, Nodes: ranking.Nodes}
	if ranking.Method == "hits" {
		r.Rank.Hub = &rank.Hub
	}
	return nil
}

func (r *Rank) print(w io.Writer) {
	if r == nil {
		return
	}
	printable.Fprintf(w, "  rank     %.4g by %s", r.Score, r.Method)
	if r.Personal != "" {
		printable.Fprintf(w, " from %s", printable.Cut(r.Personal, 100))
	}
	if r.Hub != nil {
		printable.Fprintf(w, ", as a hub %.4g", *r.Hub)
	}
	printable.Fprintf(w, ", of %d nodes; the mean is %.4g\n", r.Nodes, 1/float64(max(1, r.Nodes)))
}
