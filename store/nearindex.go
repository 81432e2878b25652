package store

import (
	"cmp"
	"slices"
)

// NearIndex is the index of near-duplicates in memory, for crawls without a store: of
// the same pages, entered in the order of their numbers, it names those that
// Candidates names. The zero value is empty and ready; not safe for concurrent use.
type NearIndex struct{ bands map[string][]uint64 }

// Add enters page n, a number above all before.
func (x *NearIndex) Add(n uint64, signature []byte) {
	if x.bands == nil {
		x.bands = map[string][]uint64{}
	}
	for _, k := range nearKeys(signature) {
		pages := append(x.bands[string(k)], n)
		x.bands[string(k)] = pages[max(0, len(pages)-nearBucket):]
	}
}

// Sharing returns the numbers of the pages whose signatures share a band with this
// one, in the order of Candidates.
func (x *NearIndex) Sharing(signature []byte) []uint64 {
	shared := map[uint64]int{}
	var pages []uint64
	for _, k := range nearKeys(signature) {
		for _, n := range x.bands[string(k)] {
			if shared[n]++; shared[n] == 1 {
				pages = append(pages, n)
			}
		}
	}
	return mostShared(pages, shared)
}

// mostShared orders candidates: those that share most bands first, of these the
// newest, and no more than are read.
func mostShared(pages []uint64, shared map[uint64]int) []uint64 {
	slices.SortFunc(pages, func(a, b uint64) int {
		return cmp.Or(cmp.Compare(shared[b], shared[a]), cmp.Compare(b, a))
	})
	return pages[:min(len(pages), nearMostRead)]
}
