package sources

import (
	"context"
	"slices"

	"fossick/graph"
	"fossick/store"
)

// PutRanks gives a store's pages the scores of their nodes, and hub scores unless nil. It
// returns which nodes they are, and their number. A copy of a running crawl's store keeps
// none.
func PutRanks(ctx context.Context, g *graph.Graph, s *store.Store, ranking store.Ranking, score, hub []float64) (pages []bool, n uint64, err error) {
	pages = make([]bool, g.Nodes())
	var ranks []store.NumberedRank
	for p, err := range s.Pages() {
		if err != nil {
			return nil, 0, err
		}
		v, ok, err := g.Node(p.URL)
		if err != nil {
			return nil, 0, err
		}
		if !ok {
			continue // its URL came in twice
		}
		pages[v] = true
		rank := store.NumberedRank{Page: p.Number, Rank: store.Rank{Score: score[v]}}
		if hub != nil {
			rank.Hub = hub[v]
		}
		ranks = append(ranks, rank)
	}
	if s.Temporary() {
		return pages, 0, nil
	}
	return pages, uint64(len(ranks)), s.Ranks().Put(ctx, ranking, slices.Values(ranks))
}
