package eval

import (
	"fmt"
	"strings"
	"testing"
)

// TestFewPages: below five pages there is no interval of the harvest, and no recall estimate.
func TestFewPages(t *testing.T) {
	for n := range 8 {
		ci := harvestCI(n, func(int) bool { return true })
		if (ci != nil) != (n >= 5) || strings.HasPrefix(ci.words(), "no interval: it needs 5") != (n < 5) {
			t.Errorf("%d pages: %v, %q", n, ci, ci.words())
		}
		var urls []string
		for i := range n {
			urls = append(urls, fmt.Sprintf("http://a/%d", i))
		}
		if e := estimateRecall([]*Crawl{{}, {}}, [][]string{urls, urls}); (len(e) > 0) != (n >= 5) {
			t.Errorf("%d pages, found by two crawls: an estimate of %v", n, e)
		}
	}
}
