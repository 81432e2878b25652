package eval_test

import (
	"fmt"

	"fossick/eval"
)

func Example() {
	relevant := []bool{true, false, true, true, false}
	fmt.Println(eval.Harvest(relevant), "of", len(relevant))

	// Ten URLs are on topic: how many pages did the crawl need to find a fifth of them?
	fmt.Println(*eval.SearchLength(relevant, 10, 0.2), "pages")

	// The overlap of two crawls after each number of pages.
	a := []string{"http://a.test/", "http://b.test/", "http://c.test/"}
	b := []string{"http://b.test/", "http://a.test/", "http://d.test/"}
	for _, p := range eval.Overlap(a, b, 1) {
		fmt.Printf("after %d: %.2f\n", p.Pages, p.Share)
	}
	// Output:
	// 3 of 5
	// 3 pages
	// after 1: 0.00
	// after 2: 1.00
	// after 3: 0.67
}
