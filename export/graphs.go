package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"fossick/crawler/fetch"
	"fossick/datasets"
	"fossick/graph"
	"fossick/internal/cli"
	"fossick/store"
)

// GraphKinds lists the accepted graph sources, for help texts.
const GraphKinds = `a graph file (made by fossick graph), an edge list (src TAB dst a line, .gz or .zst too; beside X.edges.tsv an X.urls.tsv names the nodes), a link file (made by fossick convert), a corpus with links or with markup that has them (as web archives), a crawl's store, demo, or synthetic:N, a made-up web of N pages`

// GraphSource is a graph file, or data from which one is built.
type GraphSource struct {
	Name  string // of a file, a folder, or a corpus known to OpenSet
	Pages int    // of a synthetic web; 0 for other sources
	Seed  uint64 // of a synthetic web

	// OpenStore opens a crawl's store; done releases it.
	OpenStore func(path string) (s *store.Store, done func() error, err error)
	// OpenSet opens a corpus, or a store as one.
	OpenSet func(name string) (*datasets.Set, error)
}

// NamedGraph parses a source given by the user; the caller sets OpenStore and OpenSet.
func NamedGraph(name string, seed uint64) (GraphSource, error) {
	s := GraphSource{Name: name, Seed: seed}
	if pages, ok := strings.CutPrefix(name, "synthetic:"); ok {
		n, err := cli.Count(pages)
		if err != nil || n == 0 {
			return s, cli.Usagef("synthetic:%s: want a number of pages, as in synthetic:1M", pages)
		}
		s.Pages = int(n)
	}
	return s, nil
}

// IsGraph reports whether the source is a graph file.
func (s GraphSource) IsGraph() bool { return s.Pages == 0 && graph.IsFile(s.Name) }

func (s GraphSource) isList() bool {
	info, err := os.Stat(s.Name)
	return s.Pages == 0 && err == nil && !info.IsDir() && !datasets.IsFile(s.Name)
}

// Build builds the graph at path. memory limits sorting, in bytes (0: default). A synthetic web has nil Stats.
func (s GraphSource) Build(ctx context.Context, path string, memory int) (*graph.Stats, error) {
	opt := graph.BuildOptions{Memory: memory}
	switch {
	case s.Pages != 0:
		web, err := graph.NewWeb(s.Pages, s.Seed)
		if err != nil {
			return nil, cli.Usage(err)
		}
		return nil, web.Write(ctx, path)
	case isLinkFile(s.Name):
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
		stats, err := buildGraph(ctx, path, opt, func(b *graph.Builder) error { return addStore(ctx, b, crawl) })
		return stats, errors.Join(err, done())
	}
	set, err := s.OpenSet(s.Name)
	if err != nil {
		return nil, err
	}
	if !set.HasLinks() {
		stats, err := buildGraph(ctx, path, opt, func(b *graph.Builder) error { return addPages(ctx, b, set) })
		if err == nil && stats.Edges == 0 {
			err = errors.Join(fmt.Errorf("%s has pages but no links; give %s", s.Name, GraphKinds), os.Remove(path))
		}
		return stats, err
	}
	sites := map[string]string{}
	opt.Site = func(url string) string { return sites[url] }
	return buildGraph(ctx, path, opt, func(b *graph.Builder) error { return addCorpus(ctx, b, set, sites) })
}

func buildGraph(ctx context.Context, path string, opt graph.BuildOptions, add func(*graph.Builder) error) (*graph.Stats, error) {
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

// addStore adds a crawl's pages and their links, aliases replaced by their targets. URLs not fetched have no out-links.
func addStore(ctx context.Context, b *graph.Builder, s *store.Store) error {
	same, err := aliasesOf(ctx, s)
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
		links = same.of(links, p.Links)
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

// labels calls do with every labelled node: by refine, crawl model or topic for a store, else by the corpus.
func (s GraphSource) labels(ctx context.Context, g *graph.Graph, do func(v uint32, labels []string)) error {
	of := func(url string, labels []string) error {
		v, ok, err := g.Node(url)
		if ok && len(labels) > 0 {
			do(v, labels)
		}
		return err
	}
	switch {
	case s.Pages != 0 || s.isList():
		return cli.Usagef("%s has no labels; give nodes with --personal FILE, or blocks with --block FILE", s.Name)
	case store.Exists(s.Name):
		crawl, done, err := s.OpenStore(s.Name)
		if err != nil {
			return err
		}
		return errors.Join(storeLabels(crawl, of), done())
	}
	set, err := s.OpenSet(s.Name)
	if err != nil {
		return err
	}
	for e, err := range set.Examples() {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		labels := e.Labels
		if len(labels) == 0 && e.Label != "" {
			labels = []string{e.Label}
		}
		if err := of(e.URL, labels); err != nil {
			return err
		}
	}
	return nil
}

func storeLabels(s *store.Store, do func(url string, labels []string) error) error {
	topic, topics := s.Info().Topic, s.Info().Topics
	for p, err := range s.Pages() {
		if err != nil {
			return err
		}
		refined, err := s.Label(p.Number)
		if err != nil {
			return err
		}
		label := p.Label
		var labels []string
		for i, v := range p.Topics {
			if v.Relevant && i < len(topics) {
				labels = append(labels, topics[i])
			}
		}
		switch {
		case refined == nil && len(labels) > 0: // several topics share the crawl
			if err := do(p.URL, labels); err != nil {
				return err
			}
			continue
		case refined != nil:
			label = refined.Label
		case label == "" && p.Relevant: // a keyword crawl
			label = topic
		}
		if label == "" {
			continue
		}
		if err := do(p.URL, []string{label}); err != nil {
			return err
		}
	}
	return nil
}

// labelled returns 1 for the nodes with a label, 0 for the others, and each label's node count.
func (s GraphSource) labelled(ctx context.Context, g *graph.Graph, label string) (is []float64, counts map[string]int, err error) {
	is, counts = make([]float64, g.Nodes()), map[string]int{}
	err = s.labels(ctx, g, func(v uint32, labels []string) {
		for _, l := range labels {
			if counts[l]++; l == label {
				is[v] = 1
			}
		}
	})
	return is, counts, err
}

// GraphScores hold the relevance of nodes to a topic.
type GraphScores struct {
	Score    []float32 // by node, in [0,1]; 0 for nodes without a page
	Relevant []bool    // by node
	Count    int       // relevant nodes
}

// Scores scores every page of a corpus or store on a topic.
func (s GraphSource) Scores(ctx context.Context, g *graph.Graph, score func(e *datasets.Example) (score float64, relevant bool, err error)) (*GraphScores, error) {
	set, err := s.OpenSet(s.Name)
	if err != nil {
		return nil, fmt.Errorf("%w; a topic needs pages: give a corpus or a store", err)
	}
	all := &GraphScores{Score: make([]float32, g.Nodes()), Relevant: make([]bool, g.Nodes())}
	for e, err := range set.Examples() {
		if err := errors.Join(err, ctx.Err()); err != nil {
			return nil, err
		}
		v, ok, err := g.Node(e.URL)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		x, relevant, err := score(e)
		if err != nil {
			return nil, err
		}
		all.Score[v] = float32(x)
		if relevant && !all.Relevant[v] {
			all.Relevant[v] = true
			all.Count++
		}
	}
	return all, nil
}

// StartPages returns the distinct nodes named in a file, one per line.
func (s GraphSource) StartPages(g *graph.Graph, path string) (set []uint32, err error) {
	known := map[uint32]bool{}
	for line, err := range datasets.ReadList(path) {
		if err != nil {
			return nil, fmt.Errorf("--seeds: %w", err)
		}
		v, ok, err := g.Node(line.Text)
		switch {
		case err != nil:
			return nil, err
		case !ok:
			return nil, fmt.Errorf("%s:%d: %s is not a page of %s; write it as the graph does", path, line.N, cli.Cut(line.Text, 200), s.Name)
		case !known[v]:
			known[v] = true
			set = append(set, v)
		}
	}
	if len(set) == 0 {
		return nil, cli.Usagef("%s names no start page", path)
	}
	return set, nil
}

func (s GraphSource) eachNode(g *graph.Graph, path string, do func(v uint32, value string, line int) error) error {
	f, err := datasets.OpenList(path)
	if err != nil {
		return err
	}
	found, err := eachNamed(f, path, func(name, value string, line int) error {
		v, ok, err := g.Node(name)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("%s:%d: %s is not a node of %s; write it as the graph does", path, line, name, s.Name)
		}
		return do(v, value, line)
	})
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if !found {
		return cli.Usagef("%s names no node", path)
	}
	return nil
}

// eachNamed reads nodes, one per line, each with an optional value after a tab; it skips empty lines and #
// comments, and reports whether it found any.
func eachNamed(r io.Reader, path string, do func(name, value string, line int) error) (found bool, err error) {
	for line, err := range datasets.ListLines(r, path) {
		if err != nil {
			return found, err
		}
		name, value, _ := strings.Cut(line.Text, "\t")
		if err := do(strings.TrimSpace(name), strings.TrimSpace(value), line.N); err != nil {
			return found, err
		}
		found = true
	}
	return found, nil
}

func weightOf(value string) (float64, error) {
	if value == "" {
		return 1, nil
	}
	x, err := strconv.ParseFloat(value, 64)
	if err != nil || !(x >= 0) || math.IsInf(x, 1) {
		return 0, fmt.Errorf("the weight %q is not a number of at least 0, and finite", value)
	}
	return x, nil
}

// Weights returns teleport weights: 1 for pages with label, or those of path. n counts the positive ones.
func (s GraphSource) Weights(ctx context.Context, g *graph.Graph, label, path string) (x []float64, n int, err error) {
	if label != "" {
		x, found, err := s.labelled(ctx, g, label)
		if err == nil && found[label] == 0 {
			err = cli.Usagef("no page of %s is labelled %s; it has the labels %s", s.Name, label, labelList(label, found))
		}
		return x, found[label], err
	}
	x = make([]float64, g.Nodes())
	err = s.eachNode(g, path, func(v uint32, value string, line int) error {
		var err error
		if x[v], err = weightOf(value); err != nil {
			return fmt.Errorf("%s:%d: %w", path, line, err)
		}
		return nil
	})
	for _, weight := range x {
		if weight > 0 {
			n++
		}
	}
	if err == nil && n == 0 {
		err = cli.Usagef("%s: all weights are 0; give a node more", path)
	}
	return x, n, err
}

// Blocks returns each node's block: host (default), site, first label, or that of a file; else graph.None.
func (s GraphSource) Blocks(ctx context.Context, g *graph.Graph, by string) ([]uint32, error) {
	runs := map[string]graph.Runs{"": g.Hosts(), "host": g.Hosts(), "site": g.Sites()}
	if of, ok := runs[by]; ok {
		if of.Count() == 0 {
			return nil, cli.Usagef("the nodes of %s are not URLs, so they have no hosts; give the blocks with --block FILE", s.Name)
		}
		return of.Array(g.Nodes()), nil
	}
	block := make([]uint32, g.Nodes())
	for v := range block {
		block[v] = graph.None
	}
	number := map[string]uint32{}
	put := func(v uint32, name string) {
		b, ok := number[name]
		if !ok {
			b = uint32(len(number))
			number[name] = b
		}
		block[v] = b
	}
	if by == "label" {
		err := s.labels(ctx, g, func(v uint32, labels []string) {
			if len(labels) > 0 {
				put(v, labels[0])
			}
		})
		return block, err
	}
	return block, s.eachNode(g, by, func(v uint32, value string, line int) error {
		if value == "" {
			return fmt.Errorf("%s:%d: no block; want node TAB block", by, line)
		}
		put(v, value)
		return nil
	})
}

func labelList(label string, found map[string]int) string {
	if len(found) == 0 {
		return "none; fossick refine gives them"
	}
	return cli.SomeNames(label, cli.SortedKeys(found))
}

// PutRanks stores nodes' scores with a store's pages; hub may be nil. It returns which nodes are pages, and the
// number of ranks stored: 0 in the copy of a running crawl's store.
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
			continue // not in the graph
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

// aliases maps redirects and duplicates, which are no nodes of a store's graph, to the URLs of their pages.
type aliases map[store.ID]store.ID

// aliasesOf reads a store's redirects and duplicates. A URL with a stored page of its own is no alias.
func aliasesOf(ctx context.Context, s *store.Store) (aliases, error) {
	to := aliases{}
	for v, err := range s.URLs().Visits() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		if v.Location != 0 {
			to[v.ID] = v.Location // the last visit wins
		}
	}
	for e, err := range s.URLs().Ended("") {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		switch {
		case e.State == string(fetch.StateRedirect) && !e.Stored:
		case e.State == string(fetch.StateDuplicate) && !e.Stored && e.Page != 0:
			p, err := s.Page(e.Page)
			if err != nil {
				return nil, err
			}
			to[e.ID] = p.ID
		default: // no longer a redirect
			delete(to, e.ID)
		}
	}
	to.settle()
	return to, nil
}

// settle maps every alias to the end of its chain. URLs in a cycle map to themselves, and URLs that lead into a
// cycle to the first URL of it that they reach. O(URLs).
func (a aliases) settle() {
	settled := make(map[store.ID]bool, len(a))
	var path []store.ID
	for id := range a { // the result does not depend on the order
		if settled[id] {
			continue
		}
		path = path[:0]
		on := map[store.ID]int{} // positions in path
		at := id
		for {
			_, is := a[at]
			_, circle := on[at]
			if !is || settled[at] || circle {
				break
			}
			on[at] = len(path)
			path = append(path, at)
			at = a[at]
		}
		if from, circle := on[at]; circle {
			for _, x := range path[from:] {
				a[x], settled[x] = x, true
			}
			path = path[:from]
		} else if settled[at] {
			at = a[at]
		}
		for _, x := range path {
			a[x], settled[x] = at, true
		}
	}
}

func (a aliases) of(dst, ids []store.ID) []store.ID {
	dst = dst[:0]
	for _, id := range ids {
		if end, ok := a[id]; ok {
			id = end
		}
		dst = append(dst, id)
	}
	return dst
}

// buildLinks builds the graph of a link file X.bin, of linked pages only unless X.urls.tsv (id TAB URL) names all.
func buildLinks(ctx context.Context, path, out string, opt graph.BuildOptions) (graph.Stats, error) {
	r, done, err := OpenLinks(path)
	if err != nil {
		return graph.Stats{}, err
	}
	names := strings.TrimSuffix(path, filepath.Ext(path)) + ".urls.tsv"
	if _, err := os.Stat(names); err != nil {
		names = ""
	}
	stats, err := graph.BuildNumbers(ctx, names, out, opt, func(edge func(src, dst uint32) error) error {
		for n := 0; ; n++ {
			if n%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			source, destinations, err := r.Next()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			for _, to := range destinations {
				if err := edge(source, to); err != nil {
					return err
				}
			}
		}
	})
	return stats, errors.Join(err, done())
}
