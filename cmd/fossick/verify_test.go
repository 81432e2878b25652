package main

import (
	"fmt"
	"strings"
	"testing"

	"fossick/store"
)

// TestVerifyTellsAlike: of problems in a row that differ in numbers alone three are told,
// of those that name a URL all.
func TestVerifyTellsAlike(t *testing.T) {
	r := verifyResult{Store: "s"}
	for i := range 60 {
		r.Errors = append(r.Errors, store.Problem{Key: "m", What: fmt.Sprintf("page %d is missing from the index", i)})
	}
	r.Errors = append(r.Errors, store.Problem{Key: "n", What: "the totals are 1 page"})
	for i := range 5 {
		u := fmt.Sprintf("http://a.test/%d", i)
		r.Errors = append(r.Errors, store.Problem{Key: "c", What: "the body of " + u + " is gone"})
	}
	var out strings.Builder
	r.print(&out)
	const want = `m: page 0 is missing from the index
m: page 1 is missing from the index
m: page 2 is missing from the index
… and 57 more like these; --json has them all
n: the totals are 1 page
c: the body of http://a.test/0 is gone
c: the body of http://a.test/1 is gone
c: the body of http://a.test/2 is gone
c: the body of http://a.test/3 is gone
c: the body of http://a.test/4 is gone
66 errors
`
	if out.String() != want {
		t.Errorf("it tells\n%s", out.String())
	}
}
