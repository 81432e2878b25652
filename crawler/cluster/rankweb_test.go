package cluster

import (
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"fossick/graph"
)

// agent is what an agent of a test has: pages with their links, by URL.
type agent map[string][]string

func keyOf(url string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(url))
	return h.Sum64()
}

// namedLinks are links with their nodes' names.
type namedLinks struct {
	RankLinks
	names []string
}

// linksOf numbers an agent's nodes by name. As in any graph of ours, links to the page itself
// are dropped, and repeated ones.
func linksOf(a agent) namedLinks {
	to := a.links()
	l := namedLinks{names: slices.Sorted(maps.Keys(to))}
	number := map[string]uint32{}
	for v, name := range l.names {
		number[name] = uint32(v)
		l.Keys = append(l.Keys, keyOf(name))
		_, page := a[name]
		l.Page = append(l.Page, page)
	}
	out := &graph.CSR{Start: []int64{0}}
	for _, name := range l.names {
		for to := range to[name] {
			out.To = append(out.To, number[to])
		}
		slices.Sort(out.To[out.Start[len(out.Start)-1]:])
		out.Start = append(out.Start, int64(len(out.To)))
	}
	l.In, l.Degree, _ = graph.Transposed(out) // which reads no file
	return l
}

// links are those of all nodes, also of those that are only linked to.
func (a agent) links() map[string]map[string]bool {
	set := map[string]map[string]bool{}
	for page, links := range a {
		if set[page] == nil {
			set[page] = map[string]bool{}
		}
		for _, to := range links {
			if set[to] == nil {
				set[to] = map[string]bool{}
			}
			if to != page {
				set[page][to] = true
			}
		}
	}
	return set
}

// union is what one agent would have: of pages that several have, the first's links.
func union(agents []agent) agent {
	all := agent{}
	for _, a := range slices.Backward(agents) {
		for page, links := range a {
			all[page] = links
		}
	}
	return all
}

// dense is PageRank by its definition, by name.
func dense(a agent, d float64) map[string]float64 {
	set := a.links()
	n := float64(len(set))
	now := map[string]float64{}
	for page := range set {
		now[page] = 1 / n
	}
	for range 400 {
		next, dangling := map[string]float64{}, 0.0
		for page, links := range set {
			if len(links) == 0 {
				dangling += now[page]
			}
			for to := range links {
				next[to] += d * now[page] / float64(len(links))
			}
		}
		for page := range set {
			next[page] += (1 - d + d*dangling) / n
		}
		now = next
	}
	return now
}

// scores are those that the parts found, by name; each node has one owner, and who has a
// copy of a page knows its score.
func scores(t testing.TB, links []namedLinks, parts []*RankPart) map[string]float64 {
	t.Helper()
	all := map[string]float64{}
	for i, p := range parts {
		for v, name := range links[i].names {
			x, ours := p.Score(uint32(v))
			if _, had := all[name]; ours && had {
				t.Errorf("%s has two owners", name)
			}
			if ours {
				all[name] = x
			}
		}
	}
	for i, p := range parts {
		for v, name := range links[i].names {
			if x, _ := p.Score(uint32(v)); links[i].Page[v] && x != all[name] {
				t.Errorf("agent %d has %g for its page %s, the owner %g", i, x, name, all[name])
			}
		}
	}
	return all
}

// distance is the L1 norm of the difference.
func distance(t testing.TB, a, b map[string]float64) (sum float64) {
	t.Helper()
	if len(a) != len(b) {
		t.Errorf("%d nodes and %d", len(a), len(b))
	}
	for name, x := range a {
		sum += math.Abs(x - b[name])
	}
	return sum
}

// randomAgents make up a web of so many pages and hosts, of which parts have some: by host,
// or at random, some with several. Pages may link to nothing, to themselves, twice to
// one, and to pages that nobody has.
func randomAgents(r *rand.Rand, parts, pages int) []agent {
	agents := make([]agent, parts)
	for i := range agents {
		agents[i] = agent{}
	}
	hosts := 1 + r.IntN(8)
	url := func(i int) string { return "http://h" + string(rune('a'+i%hosts)) + ".test/" + string(rune('A'+i)) }
	byHost, empty := r.IntN(2) == 0, r.IntN(parts)
	for i := range pages {
		if r.IntN(4) == 0 {
			continue // nobody has it
		}
		for range 1 + r.IntN(5)/4 {
			to := r.IntN(parts)
			if byHost {
				to = i % hosts % parts
			}
			if to == empty && parts > 2 {
				to = (to + 1) % parts
			}
			var links []string
			for range r.IntN(6) {
				links = append(links, url(r.IntN(pages)))
			}
			agents[to][url(i)] = links
		}
	}
	return agents
}

func links(namedLinks []namedLinks) []RankLinks {
	all := make([]RankLinks, len(namedLinks))
	for i := range namedLinks {
		all[i] = namedLinks[i].RankLinks
	}
	return all
}
