package frontier

import "time"

// Waiting is a URL that waits, as Survey tells of it.
type Waiting struct {
	Priority float64
	Party    Host // whose turn it waits for: a host, or all at one address
}

// Survey appends to dst the n best URLs that wait, the best first, whether they may be
// fetched or not. It leaves out those whose rest ends after until, and what is on disk,
// which is worse than what the same queue has in memory. O((n + parties) · log).
func (f *Frontier) Survey(dst []Waiting, n int, until time.Time) []Waiting {
	if f.hosts.floor.After(until) {
		return dst
	}
	s := &f.survey
	s.nodes = s.nodes[:0]
	clear(s.seen)
	s.add(f.tail.buffer, 0)
	for _, p := range f.hosts.parties {
		if !p.until.After(until) {
			s.add(p.common.queue, 0)
		}
	}
	for h, q := range f.hosts.own {
		if p := f.hosts.parties[f.hosts.find(h)]; !q.until.After(until) && (p == nil || !p.until.After(until)) {
			s.add(q.queue, 0)
		}
	}
	for end := len(dst) + n; len(dst) < end && len(s.nodes) > 0; {
		queue, at := s.pop()
		if e := &queue[at]; f.urls.current(e) && !f.hosts.until(e.host).After(until) && s.first(e.id, f.urls.copied.has(e.id)) {
			dst = append(dst, Waiting{Priority: e.priority, Party: f.hosts.find(e.host)})
		}
		for c := 4*at + 1; c <= 4*at+4; c++ {
			s.add(queue, c)
		}
	}
	return dst
}

// survey goes through heaps of entries side by side, the best first, and changes none.
type survey struct {
	nodes []surveyNode // a heap: what comes next of each
	seen  map[ID]struct{}
}

type surveyNode struct {
	queue entryHeap
	at    int
}

func (n *surveyNode) before(o *surveyNode) bool { return n.queue[n.at].before(&o.queue[o.at]) }

// add takes in a node of a heap, if there is one.
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

// pop takes the best node.
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

// first says whether a URL comes up for the first time; only one that was copied may come
// up again.
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

// NextRest returns the earliest end of a rest of hosts that have URLs; false when none of
// them rests.
func (f *Frontier) NextRest() (time.Time, bool) { return f.hosts.nextRest() }
