package eval

import (
	"cmp"
	"context"
	"slices"

	"fossick/store"
)

// Together makes one crawl of those of several agents, whose verdicts are filled: their
// pages in the order of time. Crawls are in the order of their stores. What only a store's
// bodies and links tell, drift and the trail, it does not have.
func Together(ctx context.Context, dir string, crawls []*Crawl, stores []*store.Store) (*Crawl, error) {
	all := *crawls[0]
	all.Dir, all.Counts, all.Pages, all.Trail, all.Blocks, all.Ranking = dir, store.Counts{}, nil, nil, nil, nil
	for _, c := range crawls {
		all.Counts = all.Counts.Plus(c.Counts)
		all.Pages = append(all.Pages, c.Pages...)
	}
	slices.SortStableFunc(all.Pages, func(a, b Page) int { return cmp.Compare(a.At, b.At) })
	for i := range all.Pages {
		all.Pages[i].Number, all.Pages[i].Rank = uint64(i+1), nil // ranks of one store mean nothing in another
	}
	var err error
	all.Politeness, err = MeasurePoliteness(ctx, stores...)
	return &all, err
}
