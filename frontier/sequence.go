package frontier

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Sequence is an ordering of paper B over vertices that are discovered as they are
// crawled: by the links alone, without hosts, rests and scores, in memory, each
// step in time linear in its links (LexDFS excepted). Vertices are any numbers;
// memory goes up to the largest. Not safe for concurrent use.
//
// Start URLs are the links of a page that is visited before all others: call Visit
// with them first.
//
// Ties are broken by one rule: the vertex whose standing changed first goes first;
// of several that one page changed, the one that stands first in its links. Vertices
// that no link counts for come after all others, in the order of discovery.
type Sequence interface {
	// Next takes the vertex to be visited next; false when none waits.
	Next() (v uint32, ok bool)
	// Visit tells what the vertex that was taken last links to, each target once.
	// Those in counts have their standing changed (external and initial links, paper
	// B), those in finds are discovered, if they were not yet, and no more
	// (non-initial ones).
	Visit(counts, finds []uint32)
}

// sequences are the orderings of paper B1, by name.
var sequences = map[string]func(lists lists, rng *rand.Rand) Sequence{
	"generic": func(l lists, rng *rand.Rand) Sequence { return &generic{lists: l, rng: rng} },
	"bfs":     func(l lists, _ *rand.Rand) Sequence { return &bfs{l} },
	"dfs":     func(l lists, _ *rand.Rand) Sequence { return &dfs{l} },
	"lexbfs":  func(l lists, _ *rand.Rand) Sequence { return newLexBFS(l) },
	"lexdfs":  func(l lists, _ *rand.Rand) Sequence { return newLexDFS(l) },
	"mcs":     func(l lists, _ *rand.Rand) Sequence { return &mcs{lists: l, weight: func() uint32 { return 1 }} },
	"mns": func(l lists, rng *rand.Rand) Sequence {
		return &mcs{lists: l, weight: func() uint32 { return 1 + rng.Uint32N(2) }}
	},
}

// NewSequence returns one of Sequences with room for so many vertices; with more
// it grows. rng is for those that draw: generic and mns.
func NewSequence(name string, vertices int, rng *rand.Rand) (Sequence, error) {
	build, ok := sequences[name]
	if !ok {
		return nil, fmt.Errorf("ordering %q is not known; choose one of %s", name, strings.Join(Sequences(), ", "))
	}
	return build(newLists(vertices), rng), nil
}

// Sequences returns the names of the orderings, sorted.
func Sequences() []string {
	var names []string
	for name := range sequences {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// lists are the vertices that wait, in doubly linked rings: 12 bytes a vertex, and
// 4 a list.
type lists struct {
	vertices []vertex
	heads    []uint32 // first vertex of each list, none when it is empty
}

// vertex is one vertex. The zero value is one that was not discovered.
type vertex struct {
	next, prev uint32
	list       uint32 // its list + waiting; or unseen, visited
}

const (
	unseen  = 0
	visited = 1
	waiting = 2 // and more

	none = 1<<32 - 1
)

func newLists(vertices int) lists { return lists{vertices: make([]vertex, vertices)} }

// at returns a vertex, making room for it.
func (l *lists) at(v uint32) *vertex {
	if int(v) >= len(l.vertices) {
		l.vertices = append(l.vertices, make([]vertex, int(v)+1-len(l.vertices))...)
	}
	return &l.vertices[v]
}

// newList adds an empty list.
func (l *lists) newList() uint32 {
	l.heads = append(l.heads, none)
	return uint32(len(l.heads) - 1)
}

// append puts a vertex that is in no list at the end of one.
func (l *lists) append(list, v uint32) {
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

// remove takes a vertex out of its list.
func (l *lists) remove(v uint32) {
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

// take removes a vertex and marks it as visited.
func (l *lists) take(v uint32) {
	l.remove(v)
	l.vertices[v].list = visited
}

// find appends the vertices that are new to a list.
func (l *lists) find(list uint32, vs []uint32) {
	for _, v := range vs {
		if l.at(v).list == unseen {
			l.append(list, v)
		}
	}
}

// ensure makes sure that there are so many lists.
func (l *lists) ensure(n int) {
	for len(l.heads) < n {
		l.newList()
	}
}
