package change_test

import (
	"fmt"

	"fossick/store/change"
)

func Example() {
	var h change.History
	for i, found := range []change.Kind{change.None, change.Text} {
		var err error
		if h, err = h.Append(change.Visit{At: 1_700_000_000_000 + int64(i)*172_800_000, Took: 120, Rest: 2000, State: "ok", Code: 200, Change: found}); err != nil {
			panic(err)
		}
	}
	visits, err := h.Visits(nil)
	fmt.Println(len(h), "bytes,", len(visits), "visits, the last changed:", visits[1].Change.Changed(), err)
	// Output: 19 bytes, 2 visits, the last changed: true <nil>
}
