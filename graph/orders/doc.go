// Package orders says in which order pages are visited: the orderings of paper B and
// further ones.
//
// In: links, as pages are visited. Out: a priority for each target (Ordering, for a
// crawl whose queue lies on disk), or the next page itself (Sequence, exact, over
// vertices in memory). Start with OrderingByName and NewSequence.
//
// Files: order.go and counting.go priorities. sequence.go the orderings in
// memory: those of paper B in search.go, mcs.go, lexbfs.go with classes.go and
// lexdfs.go, both on ring.go. further ones in importance.go, on the heap of
// ranked.go, and largest.go; mix.go mixes of them; tell.go priorities in words.
package orders
