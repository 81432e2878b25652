package webstats_test

import (
	"context"
	"fmt"
	"iter"
	"os"

	"fossick/eval/webstats"
)

// web is a crawl of two URLs.
type web struct{}

func (web) URLs() iter.Seq2[*webstats.URL, error] {
	return func(yield func(*webstats.URL, error) bool) {
		_ = yield(&webstats.URL{URL: "http://a.test/", Seed: true, State: "ok", Exchanges: []webstats.Exchange{{State: "ok", Code: 200, Millis: 30}}}, nil) &&
			yield(&webstats.URL{URL: "http://a.test/b", Linked: true, Depth: 1, State: "code", Exchanges: []webstats.Exchange{{State: "code", Code: 404, Millis: 10}}}, nil)
	}
}

func (web) Pages() iter.Seq2[*webstats.Page, error] {
	return func(yield func(*webstats.Page, error) bool) {
		yield(&webstats.Page{ID: 1, URL: "http://a.test/", ContentType: "text/html", Charset: "utf-8", Bytes: 900, Links: []uint64{2}}, nil)
	}
}

func (web) Hosts() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) { yield("a.test:80", nil) }
}

// Two tables of a small crawl.
func ExampleCount() {
	r, err := webstats.Count(context.Background(), webstats.Options{}, web{})
	if err != nil {
		fmt.Println(err)
		return
	}
	webstats.WriteText(os.Stdout, r.Only([]string{"codes", "depths"}), 80)
	// Output:
	// Status codes of answers
	//   code  answers   share
	//    200        1  50.0 %
	//    404        1  50.0 %
	//
	// Requests, downloads and new links by depth
	//   depth  known  requested  downloaded  stored  new links  new a page  Korea
	//       0      1          1           1       1          1        1.00   5.60
	//       1      1          1           0       0          0           –   6.00
	//       2      0          0           0       0          0           –   3.90
	//       3      0          0           0       0          0           –   2.40
	//       4      0          0           0       0          0           –   1.60
	//   New links are URLs first named by a link of a page at this depth; new a page
	//   is their number per downloaded page.
}
