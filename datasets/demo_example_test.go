package datasets_test

import (
	"fmt"

	"fossick/datasets"
)

// This example reads the built-in set row by row.
func Example() {
	set, err := datasets.Open("demo", datasets.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	labels := map[string]bool{}
	for e, err := range set.Examples() {
		if err != nil {
			fmt.Println(err)
			return
		}
		if e.Label != "" {
			labels[e.Label] = true
		}
	}
	fmt.Println(len(labels))
	// Output: 5
}
