package eval_test

import (
	"fmt"

	"fossick/eval"
)

// The overlap of two crawls after each number of pages (paper A5).
func Example() {
	a := []string{"http://a.test/", "http://b.test/", "http://c.test/"}
	b := []string{"http://b.test/", "http://a.test/", "http://d.test/"}
	for _, p := range eval.MeanOverlap([][]string{a, b}, 1) {
		fmt.Printf("after %d: %.2f\n", p.Pages, p.Share)
	}
	// Output:
	// after 1: 0.00
	// after 2: 1.00
	// after 3: 0.67
}
