package relevance_test

import (
	"fmt"

	"fossick/relevance"
)

// This is paper A's example: two of twenty keywords, ρ = 0.3, a parent of 0.58.
func ExampleDegree() {
	fmt.Printf("%.3f\n", relevance.Degree(2, 20, 0.3, 0.58))
	// Output: 0.244
}
