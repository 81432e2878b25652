package main

import (
	"strings"
	"testing"

	"fossick/train"
)

// TestRefineShares: nearly all is not printed as all, nor a few as none.
func TestRefineShares(t *testing.T) {
	var out strings.Builder
	r := refineResult{known: new(train.Trained)}
	r.Pages, r.Kept, r.PerClass = 3000, 2996, map[string]int{"bees": 2996, "rocks": 3, "wasps": 1}
	r.print(&out, nil)
	for _, want := range []string{"99.9 %", "0.1 %"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in:\n%s", want, out.String())
		}
	}
}
