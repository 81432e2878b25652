package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"fossick/datasets"
	"fossick/internal/reading"
	"fossick/store"
	"fossick/webgraph"
)

// graphSources tells in a verb's help what a graph can be read from.
const graphSources = `a graph file (made by fossick graph), an edge list (src TAB dst a line, .gz or .zst too; beside X.edges.tsv an X.urls.tsv names the nodes), a corpus with links, a crawl's store, demo, or synthetic:N, a made-up web of N pages`

// openGraph opens a graph file, or builds one of what source names, in a scratch
// folder that goes when the verb ends. stats is nil for what was there already.
func openGraph(a *app, source string, memory int) (g *webgraph.Graph, stats *webgraph.Stats, err error) {
	path := source
	if !isGraphFile(source) {
		dir, err := os.MkdirTemp("", "fossick-graph-")
		if err != nil {
			return nil, nil, err
		}
		a.onClose(func() error { return os.RemoveAll(dir) })
		path = filepath.Join(dir, "graph")
		a.say("building the graph of %s", source)
		if stats, err = buildGraph(a, source, path, memory); err != nil {
			return nil, nil, err
		}
	}
	if g, err = webgraph.Open(path); err != nil {
		return nil, nil, err
	}
	a.onClose(g.Close)
	return g, stats, nil
}

// isGraphFile looks at a file's first bytes; a folder and what cannot be read are
// none.
func isGraphFile(path string) bool {
	f, err := reading.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() // opened for reading: nothing can be lost
	head := make([]byte, 8)
	_, err = io.ReadFull(f, head)
	return err == nil && bytes.Equal(head, []byte("FSKGRAPH"))
}

// buildGraph builds the graph that source names at path.
func buildGraph(a *app, source, path string, memory int) (*webgraph.Stats, error) {
	defer a.step("building the graph of " + source)()
	opt := webgraph.BuildOptions{Memory: memory}
	if n, ok := strings.CutPrefix(source, "synthetic:"); ok {
		return buildSynthetic(a, n, path)
	}
	info, err := os.Stat(source)
	switch {
	case err == nil && !info.IsDir() && !strings.Contains(filepath.Base(source), ".jsonl"):
		stats, err := webgraph.BuildEdgeList(a.ctx, source, path, opt)
		return &stats, err
	case err == nil && store.Exists(source):
		s, done, err := a.openToRead(source)
		if err != nil {
			return nil, err
		}
		stats, err := buildNamed(a.ctx, path, opt, func(b *webgraph.Builder) error { return addStore(a.ctx, b, s) })
		return stats, errors.Join(err, done())
	}
	set, err := openSet(a, source, datasets.Options{})
	if err != nil {
		return nil, err
	}
	if !set.HasLinks() {
		return nil, fmt.Errorf("%s has pages and no links; name %s", source, graphSources)
	}
	sites := map[string]string{}
	opt.Site = func(url string) string { return sites[url] }
	return buildNamed(a.ctx, path, opt, func(b *webgraph.Builder) error { return addCorpus(a.ctx, b, set, sites) })
}

func buildSynthetic(a *app, pages, path string) (*webgraph.Stats, error) {
	n, err := parseCount(pages)
	if err != nil {
		return nil, usagef("synthetic:%s: want a number of pages, as in synthetic:1M", pages)
	}
	web, err := webgraph.NewSynthetic(int(n), uint64(a.seed))
	if err != nil {
		return nil, usageError{err}
	}
	return nil, web.Write(a.ctx, path)
}

func buildNamed(ctx context.Context, path string, opt webgraph.BuildOptions, add func(*webgraph.Builder) error) (*webgraph.Stats, error) {
	b, err := webgraph.NewBuilder(path, opt)
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
func addCorpus(ctx context.Context, b *webgraph.Builder, set *datasets.Set, sites map[string]string) error {
	for e, err := range set.Examples() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
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
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = b.Edge([]byte(link.Src), []byte(link.Dst))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addStore adds a crawl's pages and all links of them that the crawl knows: also
// those to URLs that it did not fetch, which have no links here. Redirects and duplicates
// are no nodes: a link to one is a link to what it stands for.
func addStore(ctx context.Context, b *webgraph.Builder, s *store.Store) error {
	same, err := aliasesOf(ctx, s)
	if err != nil {
		return err
	}
	var links []store.ID
	for p, err := range s.Pages() {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = b.Node([]byte(p.URL))
		}
		if err != nil {
			return err
		}
		links = same.of(links, p.Links)
		urls, err := s.URLs(links)
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
