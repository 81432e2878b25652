package collection

import "fossick/internal/page"

// numbering gives each URL its node, from 0. Of several stores it remembers what was in
// each, by 64-bit keys, as two URLs share one once in 10^19 pairs.
type numbering struct {
	several bool
	next    uint32
	nodes   map[uint64]first
	again   map[uint32][]ref // the records so far of nodes with several
	seen    map[uint64]bool  // records, by the keys of their ids
}

// first is a node and its first record.
type first struct {
	node uint32
	ref
}

// node returns a URL's node, and where its earlier records are.
func (n *numbering) node(url string, at ref) (node uint32, earlier []ref) {
	if !n.several {
		n.next++
		return n.next - 1, nil
	}
	key := page.Key(url)
	known, ok := n.nodes[key]
	if !ok {
		if n.nodes == nil {
			n.nodes, n.again = map[uint64]first{}, map[uint32][]ref{}
		}
		n.nodes[key] = first{n.next, at}
		n.next++
		return n.next - 1, nil
	}
	earlier = n.again[known.node]
	if earlier == nil {
		earlier = []ref{known.ref}
	}
	n.again[known.node] = append(earlier[:len(earlier):len(earlier)], at) // earlier is handed on
	return known.node, earlier
}

// repeats says whether a record came before, out of a store that is a copy.
func (n *numbering) repeats(id string) bool {
	if !n.several {
		return false
	}
	if n.seen == nil {
		n.seen = map[uint64]bool{}
	}
	key := page.Key(id)
	was := n.seen[key]
	n.seen[key] = true
	return was
}
