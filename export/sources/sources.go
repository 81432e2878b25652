package sources

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"fossick/datasets"
	"fossick/export/convert/links"
	"fossick/graph"
	"fossick/graph/synthetic"
	"fossick/internal/cli"
	"fossick/internal/usage"
	"fossick/store"
)

// Kinds tells people what a graph can be read from.
const Kinds = `a graph file (made by fossick graph), an edge list (src TAB dst a line, .gz or .zst too; beside X.edges.tsv an X.urls.tsv names the nodes), a link file (made by fossick convert), a corpus with links or with markup that has them (as web archives), a crawl's store, demo, or synthetic:N, a made-up web of N pages`

// Source is what a graph is read from or built of.
type Source struct {
	Name  string // of a file or a folder, or a corpus that OpenSet knows
	Pages int    // of a synthetic web; 0 for others
	Seed  uint64 // likewise

	// OpenStore opens the store of a crawl; done ends its use.
	OpenStore func(path string) (s *store.Store, done func() error, err error)
	// OpenSet opens a corpus, or a store as one.
	OpenSet func(name string) (*datasets.Set, error)
}

// Named is the source that a person names; the caller adds how stores and corpora are
// opened.
func Named(name string, seed uint64) (Source, error) {
	s := Source{Name: name, Seed: seed}
	if pages, ok := strings.CutPrefix(name, "synthetic:"); ok {
		n, err := cli.Count(pages)
		if err != nil || n == 0 {
			return s, usage.Errorf("synthetic:%s: want a number of pages, as in synthetic:1M", pages)
		}
		s.Pages = int(n)
	}
	return s, nil
}

// IsGraph says whether it is a graph file already.
func (s Source) IsGraph() bool { return s.Pages == 0 && graph.IsFile(s.Name) }

// isList says whether it is a file of links alone.
func (s Source) isList() bool {
	info, err := os.Stat(s.Name)
	return s.Pages == 0 && err == nil && !info.IsDir() && !datasets.IsFile(s.Name)
}

// Build builds the graph at path. memory is what sorting may take, 0 for the default.
// Stats are nil where nothing is built of edges.
func (s Source) Build(ctx context.Context, path string, memory int) (*graph.Stats, error) {
	opt := graph.BuildOptions{Memory: memory}
	switch {
	case s.Pages != 0:
		web, err := synthetic.New(s.Pages, s.Seed)
		if err != nil {
			return nil, usage.Of(err)
		}
		return nil, web.Write(ctx, path)
	case links.IsFile(s.Name):
		stats, err := buildLinks(ctx, s.Name, path, opt)
		return &stats, err
	case s.isList():
		stats, err := graph.BuildEdgeList(ctx, s.Name, path, opt)
		return &stats, err
	case store.Exists(s.Name):
		crawl, done, err := s.OpenStore(s.Name)
		if err != nil {
			return nil, err
		}
		stats, err := build(ctx, path, opt, func(b *graph.Builder) error { return addStore(ctx, b, crawl) })
		return stats, errors.Join(err, done())
	}
	set, err := s.OpenSet(s.Name)
	if err != nil {
		return nil, err
	}
	if !set.HasLinks() {
		stats, err := build(ctx, path, opt, func(b *graph.Builder) error { return addPages(ctx, b, set) })
		if err == nil && stats.Edges == 0 {
			err = errors.Join(fmt.Errorf("%s has pages but no links; give %s", s.Name, Kinds), os.Remove(path))
		}
		return stats, err
	}
	sites := map[string]string{}
	opt.Site = func(url string) string { return sites[url] }
	return build(ctx, path, opt, func(b *graph.Builder) error { return addCorpus(ctx, b, set, sites) })
}

func build(ctx context.Context, path string, opt graph.BuildOptions, add func(*graph.Builder) error) (*graph.Stats, error) {
	b, err := graph.NewBuilder(path, opt)
	if err != nil {
		return nil, err
	}
	if err := add(b); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	stats, err := b.Finish(ctx)
	return &stats, errors.Join(err, b.Close())
}

// addCorpus adds a corpus's pages, which may have no links, with their sites, and
// its links.
func addCorpus(ctx context.Context, b *graph.Builder, set *datasets.Set, sites map[string]string) error {
	for e, err := range set.Examples() {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if e.Site != "" {
			sites[e.URL] = e.Site
		}
		if err := b.Node([]byte(e.URL)); err != nil {
			return err
		}
	}
	for link, err := range set.Links() {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if err := b.Edge([]byte(link.Src), []byte(link.Dst)); err != nil {
			return err
		}
	}
	return nil
}

// addPages adds pages and the links that their markup has, where a corpus lists none. URLs
// that are no pages of it have no links.
func addPages(ctx context.Context, b *graph.Builder, set *datasets.Set) error {
	for e, err := range set.Examples() {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if e.HTML == "" || e.URL == "" {
			continue
		}
		p, err := e.Page()
		if err != nil {
			return fmt.Errorf("%s: %w", e.URL, err)
		}
		from := []byte(p.URL)
		if err := b.Node(from); err != nil {
			return err
		}
		for i := range p.Links {
			if err := b.Edge(from, []byte(p.Links[i].URL)); err != nil {
				return err
			}
		}
	}
	return nil
}

// addStore adds a crawl's pages and all links of them that the crawl knows. URLs that
// it did not fetch have no links here. Redirects and duplicates are no nodes: a link to
// one is a link to what it stands for.
func addStore(ctx context.Context, b *graph.Builder, s *store.Store) error {
	same, err := AliasesOf(ctx, s)
	if err != nil {
		return err
	}
	var links []store.ID
	for p, err := range s.Pages() {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if err := b.Node([]byte(p.URL)); err != nil {
			return err
		}
		links = same.Of(links, p.Links)
		urls, err := s.URLs().Names(links)
		if err != nil {
			return err
		}
		for _, u := range urls {
			if err := b.Edge([]byte(p.URL), []byte(u)); err != nil {
				return err
			}
		}
	}
	return nil
}
