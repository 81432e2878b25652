package main

import (
	"context"

	"fossick/eval"
	"fossick/store"
)

// politeness reads from a crawl's journal how it treated its hosts; nil, with a
// word about it, when that fails: the crawl itself is worth no less. An interrupt
// that ended the crawl does not end the reading.
func politeness(ctx context.Context, a *app, s *store.Store) *eval.Politeness {
	p, err := eval.MeasurePoliteness(context.WithoutCancel(ctx), s)
	if err != nil {
		a.say("no politeness report: %v", err)
		return nil
	}
	return p
}
