package web_test

import (
	"context"
	"fmt"
	"io"
	"net/http/httptest"

	"fossick/datasets"
	"fossick/datasets/web"
)

// This example requests pages of two hosts, as a crawler does through a proxy.
func Example() {
	pages := func(yield func(*datasets.Example, error) bool) {
		_ = yield(&datasets.Example{URL: "http://a.test/", HTML: `<a href="http://b.test/">b</a>`}, nil) &&
			yield(&datasets.Example{URL: "http://b.test/", HTML: "<p>gold"}, nil)
	}
	web, err := web.New(context.Background(), web.Options{}, datasets.FromSeq("two", pages, datasets.Options{}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer web.Close()
	fmt.Println(web.Stats().Hosts, "hosts, the first page is", web.First())
	for _, url := range []string{"http://b.test/", "http://b.test/robots.txt", "http://b.test/nothing"} {
		answer := httptest.NewRecorder()
		web.ServeHTTP(answer, httptest.NewRequest("GET", url, nil))
		body, _ := io.ReadAll(answer.Body)
		fmt.Printf("%d %q\n", answer.Code, body)
	}
	// Output:
	// 2 hosts, the first page is http://a.test/
	// 200 "<p>gold"
	// 200 "User-agent: *\nDisallow:\n"
	// 404 "<!DOCTYPE html>\n<title>404 Not Found</title>\n<p>the corpus has no page here\n"
}
