package frontier

import (
	"iter"
	"math"
	"slices"
	"time"
)

// Waiting is a waiting URL as Survey reports it.
type Waiting struct {
	ID       ID
	Priority float64
	Party    Host // the host, or all hosts at one address
}

// Survey appends to dst the n best waiting URLs, best first, whether they may be fetched or
// not. It leaves out hosts that rest beyond until or in doubt, and entries on disk, which rank
// below those in memory. It costs about n·log n: it gathers the entries as good as the last
// survey's or, where these are too few or too many, searches the heaps from their tops.
func (f *Frontier) Survey(dst []Waiting, n int, until time.Time) []Waiting {
	if f.hosts.floor.After(until) {
		return dst
	}
	s := &f.survey
	enough := n + n/4 // so that the next survey finds n after some have left
	if !s.again(f, n, 4*enough, until) {
		s.tops(f, enough, until)
	}
	if len(s.found) >= enough {
		s.least = s.found[enough-1].priority
	}
	for i := range s.found[:min(n, len(s.found))] {
		e := s.found[i]
		dst = append(dst, Waiting{ID: e.id, Priority: e.priority, Party: f.hosts.find(e.host)})
	}
	clear(s.found) // drops pointers into heaps
	return dst
}

// heaps yields the heaps that a survey searches.
func (*survey) heaps(f *Frontier, until time.Time) iter.Seq[entryHeap] {
	return func(yield func(entryHeap) bool) {
		if !yield(f.tail.buffer) {
			return
		}
		for _, p := range f.hosts.parties {
			if !p.until.After(until) && !yield(p.common.queue) {
				return
			}
		}
		for h, q := range f.hosts.own {
			p := f.hosts.parties[f.hosts.find(h)]
			if !q.doubt && !q.until.After(until) && (p == nil || !p.until.After(until)) && !yield(q.queue) {
				return
			}
		}
	}
}

// counts reports whether a survey counts an entry.
func (s *survey) counts(f *Frontier, e *entry, until time.Time) bool {
	return f.urls.current(e) && !f.hosts.inDoubt(e.host) && !f.hosts.until(e.host).After(until) && s.first(e.id, f.urls.copied.has(e.id))
}

// again finds the entries as good as the last survey's, in order; false where these are more
// than most, or fewer than n while others exist.
func (s *survey) again(f *Frontier, n, most int, until time.Time) bool {
	s.begin()
	for queue := range s.heaps(f, until) {
		if !s.gather(queue, most) {
			return false
		}
	}
	slices.SortFunc(s.found, func(a, b *entry) int {
		switch {
		case a.before(b):
			return -1
		case b.before(a):
			return 1
		}
		return 0 // copies of one URL
	})
	s.found = slices.DeleteFunc(s.found, func(e *entry) bool { return !s.counts(f, e, until) })
	return len(s.found) >= n || !s.cut
}

func (s *survey) tops(f *Frontier, n int, until time.Time) {
	s.begin()
	for queue := range s.heaps(f, until) {
		s.add(queue, 0)
	}
	for len(s.found) < n && len(s.nodes) > 0 {
		queue, at := s.pop()
		if e := &queue[at]; s.counts(f, e, until) {
			s.found = append(s.found, e)
		}
		for c := 4*at + 1; c <= 4*at+4; c++ {
			s.add(queue, c)
		}
	}
	if len(s.found) < n {
		s.least = math.Inf(-1)
	}
}

// survey searches heaps of entries without changing them.
type survey struct {
	found []*entry     // the best first
	least float64      // least priority of the last survey
	cut   bool         // there are entries below least
	stack []int        // places in a heap for gather to visit
	nodes []surveyNode // a heap: the next node of each heap
	seen  map[ID]struct{}
}

func (s *survey) begin() {
	s.found, s.nodes, s.cut = s.found[:0], s.nodes[:0], false
	clear(s.seen)
}

// gather appends the entries of a heap that rank at least least; false where these are too
// many.
func (s *survey) gather(queue entryHeap, most int) bool {
	s.stack = append(s.stack[:0], 0)
	for len(s.stack) > 0 {
		at := s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		switch {
		case at >= len(queue):
			continue
		case queue[at].priority < s.least:
			s.cut = true
			continue
		case len(s.found) == most:
			return false
		}
		s.found = append(s.found, &queue[at])
		s.stack = append(s.stack, 4*at+1, 4*at+2, 4*at+3, 4*at+4)
	}
	return true
}

type surveyNode struct {
	queue entryHeap
	at    int
}

func (n *surveyNode) before(o *surveyNode) bool { return n.queue[n.at].before(&o.queue[o.at]) }

// add adds a node of a heap, if it exists.
func (s *survey) add(queue entryHeap, at int) {
	if at >= len(queue) {
		return
	}
	s.nodes = append(s.nodes, surveyNode{queue, at})
	i := len(s.nodes) - 1
	for parent := (i - 1) / 2; i > 0 && s.nodes[i].before(&s.nodes[parent]); parent = (i - 1) / 2 {
		s.nodes[i], s.nodes[parent] = s.nodes[parent], s.nodes[i]
		i = parent
	}
}

func (s *survey) pop() (entryHeap, int) {
	top, last := s.nodes[0], len(s.nodes)-1
	s.nodes[0] = s.nodes[last]
	s.nodes = s.nodes[:last]
	for i := 0; ; {
		best := i
		for c := 2*i + 1; c <= 2*i+2 && c < last; c++ {
			if s.nodes[c].before(&s.nodes[best]) {
				best = c
			}
		}
		if best == i {
			return top.queue, top.at
		}
		s.nodes[i], s.nodes[best] = s.nodes[best], s.nodes[i]
		i = best
	}
}

// first reports whether a URL comes up for the first time; only a copied one may come up
// again.
func (s *survey) first(id ID, copied bool) bool {
	if !copied {
		return true
	}
	if _, again := s.seen[id]; again {
		return false
	}
	if s.seen == nil {
		s.seen = map[ID]struct{}{}
	}
	s.seen[id] = struct{}{}
	return true
}

// NextRest returns the earliest end of a rest of hosts with URLs; false when none of them
// rests.
func (f *Frontier) NextRest() (time.Time, bool) { return f.turn.hosts.nextRest() }
