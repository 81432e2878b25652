package rank_test

import (
	"context"
	"fmt"

	"fossick/graph"
	"fossick/graph/rank"
)

// This example ranks 0 → 1, 2; 1 → 2; 2 → 0.
func ExamplePowerIteration() {
	in, degree, err := graph.Transposed(&graph.CSR{Start: []int64{0, 2, 3, 4}, To: []uint32{1, 2, 2, 0}})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := rank.PowerIteration(context.Background(), in, degree, rank.Options{})
	fmt.Printf("%.3f %v\n", r.Score, err)
	// Output: [0.388 0.215 0.397] <nil>
}
