package eval_test

import (
	"fmt"

	"fossick/eval"
)

// Measures are functions of what is known of the pages, in the order of the crawl.
func Example() {
	relevant := []bool{true, false, true, true, false}
	fmt.Println(eval.Harvest(relevant), "of", len(relevant))

	// Ten URLs are on topic: after how many pages had the crawl a fifth of them?
	fmt.Println(*eval.SearchLength(relevant, 10, 0.2), "pages")

	// Two crawls share so much of their first pages.
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
