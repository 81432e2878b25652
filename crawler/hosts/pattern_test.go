package hosts

import (
	"fmt"
	"strings"
	"testing"
)

func TestCircular(t *testing.T) {
	for url, trap := range map[string]bool{
		"http://a.test/a/b/c/d/e/f/g/":                              false,
		"http://a.test/2011/11/11/11/11/":                           false, // a date and a number
		"http://a.test/en/docs/en/docs/en/":                         false,
		"http://a.test/en/docs/en/docs/en/docs/en/":                 true,
		"http://a.test/a/a/a/a":                                     true,
		"http://a.test/x?u=/a/a/a/a/a/a/a":                          false,
		"http://a.test////////":                                     false,
		"http://a.test/" + strings.Repeat("x/y1/", 2):               false,
		"http://a.test" + strings.Repeat("/q", 3) + "/z":            false,
		"http://a.test/0/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17": false,
		"http://a.test/" + numbered(40):                             true,
	} {
		if got := Circular(url); (got != "") != trap {
			t.Errorf("%s: circular %q, want %v", url, got, trap)
		}
	}
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d/", i)
	}
	return b.String()
}
