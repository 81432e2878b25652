package orders

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// Sequence is an exact ordering over vertices in memory, discovered by links as they are crawled. Those of
// paper B take time linear in a step's links (LexDFS excepted). Memory grows with the largest vertex. Not
// safe for concurrent use.
//
// First call Visit with the start URLs as links. Ties go to the vertex whose standing changed first, and
// within one page to the first link; LexDFS, relevance, OPIC and PageRank break ties by discovery.
type Sequence interface {
	// Next takes the next vertex to visit; false if none waits, or after an error.
	Next() (v uint32, ok bool)
	// Take takes a vertex that another ordering chose (see mix), if it waits.
	Take(v uint32)
	// Visit reports the links of a taken vertex. Visits may come in another order than Next, as fetches
	// complete.
	Visit(l Links)
	// Err is the first error of SequenceOptions.Links.
	Err() error
}

// Links are the links of one page in page order, without repetitions.
type Links struct {
	Page  uint32 // the linking page
	Start bool   // All are the start pages, linked from no page
	All   []uint32
	// OnlyDiscovers marks the links of All that only discover their target (paper B's non-initial
	// links); nil if all count. The link that discovers a target always counts: "if p has new URLs, add
	// them to C⟨1⟩". Orderings not from paper B count all links.
	OnlyDiscovers []bool
}

// counts reports whether link i may move an already discovered target.
func (l *Links) counts(i int) bool { return l.OnlyDiscovers == nil || !l.OnlyDiscovers[i] }

// Starts returns the links to start pages.
func Starts(starts []uint32) Links { return Links{Start: true, All: starts} }

// Alike returns links of a page that all count.
func Alike(page uint32, all []uint32) Links { return Links{Page: page, All: all} }

// SequenceOptions are the inputs of orderings, with the orderings that need each.
type SequenceOptions struct {
	Vertices int        // initial capacity
	Rand     *rand.Rand // generic, mns

	// Score is the relevance of a visited page, in [0,1]: relevance.
	Score func(v uint32) float64
	// Sites has each vertex's site: largest-site. Vertices beyond its end, or with noSite, form one site.
	Sites []uint32
	// Links returns the links of a visited page, valid until the next call: opic-history, pagerank.
	Links func(v uint32) ([]uint32, error)
	// Every is the number of pages between updates of pagerank [a tenth of those visited].
	Every int
	// Damping is that of pagerank, in (0,1) [0.85].
	Damping float64
}

const noSite = 1<<32 - 1

// sequences are the orderings of paper B1 and others, by name.
var sequences = map[string]func(o SequenceOptions) (Sequence, error){
	"generic": func(o SequenceOptions) (Sequence, error) {
		return &generic{lists: newLists(o.Vertices), rng: o.Rand}, needs(o.Rand != nil, "generic", "random numbers")
	},
	"bfs":       func(o SequenceOptions) (Sequence, error) { return &bfs{newLists(o.Vertices)}, nil },
	"dfs":       func(o SequenceOptions) (Sequence, error) { return &dfs{newLists(o.Vertices)}, nil },
	"lexbfs":    func(o SequenceOptions) (Sequence, error) { return newLexBFS(o.Vertices), nil },
	"lexdfs":    func(o SequenceOptions) (Sequence, error) { return newLexDFS(o.Vertices), nil },
	"mcs":       func(o SequenceOptions) (Sequence, error) { return newMCS(o, one), nil },
	"mcs-sites": func(o SequenceOptions) (Sequence, error) { return newMCSSites(o), nil },
	"mns": func(o SequenceOptions) (Sequence, error) {
		return newMCS(o, func() uint32 { return 1 + o.Rand.Uint32N(2) }), needs(o.Rand != nil, "mns", "random numbers")
	},
	"backlink":     func(o SequenceOptions) (Sequence, error) { return &backlink{newMCS(o, one)}, nil },
	"largest-site": func(o SequenceOptions) (Sequence, error) { return newLargestSite(o), nil },
	"relevance": func(o SequenceOptions) (Sequence, error) {
		return &relevance{ranked: newRanked(o.Vertices), score: o.Score}, needs(o.Score != nil, "relevance", "the pages' scores")
	},
	"opic": func(o SequenceOptions) (Sequence, error) { return &opic{ranked: newRanked(o.Vertices)}, nil },
	"opic-history": func(o SequenceOptions) (Sequence, error) {
		return &opicHistory{ranked: newRanked(o.Vertices), links: o.Links}, needs(o.Links != nil, "opic-history", "the links of visited pages")
	},
	"pagerank": newPageRank,
}

func needs(has bool, name, what string) error {
	if has {
		return nil
	}
	return fmt.Errorf("ordering %s needs %s", name, what)
}

// NewSequence returns one of Sequences, or a mix of them (see ParseMix).
func NewSequence(name string, o SequenceOptions) (Sequence, error) {
	shares, err := ParseMix(name)
	if err != nil {
		return nil, err
	}
	m := &mix{turns: newTurns(shares)}
	for _, s := range shares {
		part, err := sequences[s.Name](o)
		if err != nil {
			return nil, err
		}
		m.parts = append(m.parts, part)
	}
	if len(m.parts) == 1 {
		return m.parts[0], nil
	}
	return m, nil
}

func Sequences() []string { return slices.Sorted(maps.Keys(sequences)) }

// lists are waiting vertices in doubly linked rings: 12 bytes per vertex, 4 per list.
type lists struct {
	vertices []vertex
	heads    []uint32 // first vertex of each list, or none
	ops      uint64
}

// vertex is one vertex; the zero value is undiscovered.
type vertex struct {
	next, prev uint32
	list       uint32 // its list + waiting; or unseen, visited
}

const (
	unseen  = 0
	visited = 1
	waiting = 2 // and above

	none = 1<<32 - 1
)

func newLists(vertices int) lists { return lists{vertices: make([]vertex, vertices)} }

func (l *lists) at(v uint32) *vertex {
	if int(v) >= len(l.vertices) {
		l.vertices = append(l.vertices, make([]vertex, int(v)+1-len(l.vertices))...)
	}
	return &l.vertices[v]
}

func (l *lists) newList() uint32 {
	l.heads = append(l.heads, none)
	return uint32(len(l.heads) - 1)
}

func (l *lists) append(list, v uint32) {
	l.ops++
	x := l.at(v)
	x.list = list + waiting
	head := l.heads[list]
	if head == none {
		x.next, x.prev = v, v
		l.heads[list] = v
		return
	}
	h := &l.vertices[head]
	x.next, x.prev = head, h.prev
	l.vertices[h.prev].next = v
	h.prev = v
}

func (l *lists) remove(v uint32) {
	l.ops++
	x := &l.vertices[v]
	list := x.list - waiting
	if x.next == v {
		l.heads[list] = none
		return
	}
	l.vertices[x.next].prev = x.prev
	l.vertices[x.prev].next = x.next
	if l.heads[list] == v {
		l.heads[list] = x.next
	}
}

func (l *lists) Err() error { return nil }

func (l *lists) Take(v uint32) {
	if l.at(v).list >= waiting {
		l.take(v)
	}
}

func (l *lists) take(v uint32) {
	l.remove(v)
	l.vertices[v].list = visited
}

func (l *lists) ensure(n int) {
	for len(l.heads) < n {
		l.newList()
	}
}

func (l *lists) next() (uint32, bool) {
	if len(l.heads) == 0 || l.heads[0] == none {
		return 0, false
	}
	v := l.heads[0]
	l.take(v)
	return v, true
}

// bfs visits the neighbour of the earliest visited vertex: the first discovered, so later links never move
// it.
type bfs struct{ lists }

func (b *bfs) Next() (uint32, bool) { return b.next() }

func (b *bfs) Visit(l Links) {
	b.ensure(1)
	for _, v := range l.All {
		if b.at(v).list == unseen {
			b.append(0, v)
		}
	}
}

// dfs visits a neighbour of the latest visited vertex that has one.
type dfs struct{ lists }

func (d *dfs) Next() (uint32, bool) { return d.next() }

func (d *dfs) Visit(l Links) {
	d.ensure(1)
	for i, v := range slices.Backward(l.All) { // so that the first link ends in front
		switch x := d.at(v); {
		case x.list == visited, x.list >= waiting && !l.counts(i):
			continue
		case x.list >= waiting:
			d.remove(v)
		}
		d.append(0, v)
		d.heads[0] = v // the end of a ring is before its head
	}
}

// generic visits a random discovered vertex. vertex.next holds a waiting vertex's index in queue.
type generic struct {
	lists // for discovered vertices
	queue []uint32
	rng   *rand.Rand
}

func (g *generic) Next() (uint32, bool) {
	n := len(g.queue)
	if n == 0 {
		return 0, false
	}
	v := g.queue[g.rng.IntN(n)]
	g.Take(v)
	return v, true
}

func (g *generic) Take(v uint32) {
	x := g.at(v)
	if x.list < waiting {
		return
	}
	last := g.queue[len(g.queue)-1]
	g.queue[x.next] = last
	g.vertices[last].next = x.next
	g.queue = g.queue[:len(g.queue)-1]
	x.list = visited
}

func (g *generic) Visit(l Links) {
	for _, v := range l.All {
		if x := g.at(v); x.list == unseen {
			x.list, x.next = waiting, uint32(len(g.queue))
			g.queue = append(g.queue, v)
		}
	}
}

// mcs visits the vertex with the largest visited neighbourhood (maximum cardinality search; paper B2,
// algorithm 2): list k is class ⟨k⟩, the vertices with k counting links. A counting link moves its target to
// ⟨k+1⟩; new vertices go to ⟨1⟩, whatever the kind of link. The highest list rises at most by one per visit,
// which pays for searching downwards.
//
// With other positive weights it is a maximal neighbourhood search: a proper subset of a visited
// neighbourhood weighs less. mns draws 1 or 2 for each visited vertex.
type mcs struct {
	lists
	weight func() uint32 // of the vertex being visited
	top    int           // no higher list has a vertex
	last   bool          // list 0 has the vertices without counting links
}

// newMCSSites is MCS in which a link that only discovers does not count, so sites without a start page give
// one page each before any gives two. On a synthetic web it reaches a fifth more of them.
func newMCSSites(o SequenceOptions) *mcs {
	m := newMCS(o, one)
	m.last = true
	return m
}

func newMCS(o SequenceOptions, weight func() uint32) *mcs {
	return &mcs{lists: newLists(o.Vertices), weight: weight}
}

func one() uint32 { return 1 }

// backlink visits the vertex with most links from visited pages (Cho, Garcia-Molina and Page 1998): MCS
// without kinds of links.
type backlink struct{ *mcs }

func (b *backlink) Visit(l Links) { b.mcs.Visit(Alike(l.Page, l.All)) }

func (m *mcs) Next() (uint32, bool) {
	for ; m.top >= 0 && m.top < len(m.heads); m.top-- {
		if v := m.heads[m.top]; v != none {
			m.take(v)
			return v, true
		}
		m.ops++
	}
	m.top = 0
	return 0, false
}

func (m *mcs) Visit(l Links) {
	w := m.weight()
	for i, v := range l.All {
		x := m.at(v)
		list := w
		switch {
		case x.list == visited, x.list >= waiting && !l.counts(i):
			continue
		case x.list >= waiting:
			m.remove(v)
			list = x.list - waiting + w
		case m.last && !l.counts(i):
			list = 0
		}
		m.ensure(int(list) + 1)
		m.append(list, v)
		m.top = max(m.top, int(list))
	}
}

// largestSite visits the first discovered page of the site with most waiting pages (Baeza-Yates, Castillo,
// Marin and Rodriguez 2005); ties go to the site whose count changed first. All links count. O(links) per step,
// 12 bytes per site.
type largestSite struct {
	pages  lists // one list per site
	sites  lists // list k has the sites with k waiting pages
	counts []uint32
	of     []uint32 // site of each vertex
	top    int      // no higher list of sites is occupied
}

func newLargestSite(o SequenceOptions) *largestSite {
	l := &largestSite{pages: newLists(o.Vertices), of: o.Sites}
	l.sites.ensure(1)
	return l
}

// site returns a vertex's site, from 1; 0 for none.
func (l *largestSite) site(v uint32) uint32 {
	if int(v) >= len(l.of) || l.of[v] == noSite {
		return 0
	}
	return l.of[v] + 1
}

func (l *largestSite) Next() (uint32, bool) {
	for ; l.top > 0; l.top-- {
		if l.top >= len(l.sites.heads) || l.sites.heads[l.top] == none {
			continue
		}
		v := l.pages.heads[l.sites.heads[l.top]]
		l.Take(v)
		return v, true
	}
	return 0, false
}

func (l *largestSite) Take(v uint32) {
	if l.pages.at(v).list < waiting {
		return
	}
	l.pages.take(v)
	l.change(l.site(v), -1)
}

func (l *largestSite) Visit(links Links) {
	for _, v := range links.All {
		if l.pages.at(v).list != unseen {
			continue
		}
		site := l.site(v)
		l.pages.ensure(int(site) + 1)
		l.pages.append(site, v)
		l.change(site, 1)
	}
}

func (l *largestSite) change(site uint32, by int) {
	for int(site) >= len(l.counts) {
		l.counts = append(l.counts, 0)
	}
	if l.counts[site] > 0 {
		l.sites.remove(site)
	}
	n := int(l.counts[site]) + by
	l.counts[site] = uint32(n)
	if n > 0 {
		l.sites.ensure(n + 1)
		l.sites.append(uint32(n), site)
		l.top = max(l.top, n)
	}
}

func (l *largestSite) Err() error { return nil }
