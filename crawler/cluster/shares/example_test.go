package shares_test

import (
	"fmt"

	"fossick/crawler/cluster/shares"
)

// Two agents and three pages to spend: the first has the two best links.
func Example() {
	for _, s := range shares.Divide(3, 3, 3, []shares.Report{{Spent: 10, Head: []float64{.9, .6, .1}}, {Spent: 20, Head: []float64{.4, .3}}}) {
		fmt.Printf("%d pages at %.1f, %d workers\n", s.Pages, s.Price, s.Workers)
	}
	// Output:
	// 12 pages at 0.4, 2 workers
	// 21 pages at 0.4, 1 workers
}
