package lab

import (
	"context"

	"golang.org/x/sync/errgroup"

	"fossick/crawler"
	"fossick/graph/orders"
	"fossick/internal/page"
	"fossick/internal/stats"
)

// Reachable returns, for each start set, how many pages on topic a crawl
// without a limit of pages can fetch at all. It goes breadth first to the end,
// within the same scope.
func (x *Experiment) Reachable(ctx context.Context, scope crawler.Scope) ([]int, error) {
	bfs, err := orders.OrderingByName("bfs")
	if err != nil {
		return nil, err
	}
	everything := *x
	everything.Pages = 0
	everything.Policies = []Policy{{Name: "everything", New: func(Run) (crawler.Options, error) {
		return crawler.Options{Scorer: noScorer{}, Ordering: bfs, Scope: scope}, nil
	}}}
	reached := make([]int, len(x.Draw.Starts))
	truth := x.truth()
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(x.workers())
	for set := range reached {
		g.Go(func() error {
			c, err := everything.crawl(ctx, 0, set, truth)
			if err != nil {
				return err
			}
			for _, relevant := range c.Relevant {
				if relevant {
					reached[set]++
				}
			}
			return nil
		})
	}
	return reached, g.Wait()
}

// noScorer has no opinion.
type noScorer struct{}

func (noScorer) ScorePage(*page.Page, float64) crawler.Score { return crawler.Score{} }

func (noScorer) ScoreLinks(dst []float64, p *page.Page, _ crawler.Score) []float64 {
	return append(dst, make([]float64, len(p.Links))...)
}

// reachedRecall is recall of the pages on topic that could be reached, reachable by
// start set, after at most limit pages.
func reachedRecall(crawls []*Crawl, reachable []int, limit int) Mean {
	recall := make([]float64, len(crawls))
	for i, c := range crawls {
		found := cumulate(c.Relevant, limit)
		recall[i] = ratio(found[len(found)-1], reachable[i])
	}
	return stats.MeanOf(recall)
}
