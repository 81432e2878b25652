package convert

import "fmt"

// Range is the page ids of one agent: from First, so many.
type Range struct{ First, Count uint64 }

// maxPages is how many pages have ids: these have 32 bits, and a graph needs the last one.
const maxPages = 1<<32 - 1

// Ranges hands out disjoint ranges of page ids, without gaps from 0, for so many pages of each
// agent, in their order (paper C3). It is an error when there are too many pages.
func Ranges(counts []uint64) ([]Range, error) {
	ranges := make([]Range, 0, len(counts))
	next := uint64(0)
	for _, n := range counts {
		if n > maxPages-next {
			return nil, fmt.Errorf("more than %d pages; convert fewer stores together", uint64(maxPages))
		}
		ranges = append(ranges, Range{next, n})
		next += n
	}
	return ranges, nil
}
