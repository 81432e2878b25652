package convert_test

import (
	"fmt"

	"fossick/export/convert"
)

// A coordinator gives three agents the ids of their pages.
func ExampleRanges() {
	ranges, err := convert.Ranges([]uint64{100_000, 0, 40_000})
	fmt.Println(ranges, err)
	// Output: [{0 100000} {100000 0} {100000 40000}] <nil>
}
