package store

import (
	"cmp"
	"slices"
)

// NearIndex is the index of near-duplicates in memory, for crawls without a store. Of
// the same pages, entered by number, it names those that Candidates names. The zero
// value is empty and ready; not safe for concurrent use.
type NearIndex struct {
	bands map[nearBand][nearBucket]uint64 // pages, the newest first; 0 is none
}

// nearBand is the number of a band and its value.
type nearBand [1 + nearRows]byte

// nearBandOf returns a band of a signature.
func nearBandOf(signature []byte, band int) nearBand {
	k := nearBand{byte(band)}
	copy(k[1:], signature[band*nearRows:])
	return k
}

// Add enters page n, a number above all before.
func (x *NearIndex) Add(n uint64, signature []byte) {
	if len(signature) < nearBands*nearRows {
		return
	}
	if x.bands == nil {
		x.bands = map[nearBand][nearBucket]uint64{}
	}
	for band := range nearBands {
		k := nearBandOf(signature, band)
		pages := x.bands[k]
		copy(pages[1:], pages[:])
		pages[0] = n
		x.bands[k] = pages
	}
}

// Sharing returns the numbers of the pages whose signatures share a band with this
// one, in the order of Candidates.
func (x *NearIndex) Sharing(signature []byte) []uint64 {
	if len(signature) < nearBands*nearRows {
		return nil
	}
	shared := map[uint64]int{}
	var pages []uint64
	for band := range nearBands {
		for _, n := range x.bands[nearBandOf(signature, band)] {
			if n == 0 {
				break
			}
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
