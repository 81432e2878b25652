package train

import (
	"context"

	"fossick/features"
)

type nouns struct{}

func newNouns() *nouns              { return &nouns{} }
func (n *nouns) add(d features.Doc) {}

func keywords(ctx context.Context, c *corpus, opt *Options) (map[string][]string, error) {
	return map[string][]string{}, nil
}
