package train

import (
	"context"
	"iter"

	"fossick/datasets"
)

// Keywords chooses K for every class, as Train does, without making a model: where
// K comes from other pages than the model, as from the start pages of a crawl (paper A,
// section 3). The examples are read once.
func Keywords(ctx context.Context, examples iter.Seq2[*datasets.Example, error], opt Options) (map[string][]string, error) {
	if err := opt.complete(); err != nil {
		return nil, err
	}
	c, err := gather(ctx, examples, &opt, &Report{})
	if err != nil {
		return nil, err
	}
	return keywords(ctx, c, &opt)
}
