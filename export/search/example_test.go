package search_test

import (
	"context"
	"fmt"
	"os"

	"fossick/export/search"
	"fossick/store"
)

// A page of a store is found by its words.
func Example() {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	s, err := store.Create(dir+"/crawl", store.Info{Topic: "bees"})
	if err != nil {
		panic(err)
	}
	defer s.Close()
	b := s.Batch()
	p := &store.Page{Number: 1, ID: 1, URL: "http://bees.test/", Title: "Bees", Lang: "en", Checksum: make([]byte, 16)}
	fmt.Println(b.PutBirth(1, store.Birth{URL: p.URL}), b.PutPage(p, s.Compress([]byte("They make honey."))), b.Commit())

	ctx := context.Background()
	text := func(body []byte, _ *store.Page) (string, string) { return string(body), "" }
	index, _, err := search.Fresh(ctx, s, search.Options{Text: text})
	if err != nil {
		panic(err)
	}
	defer index.Close()
	query, err := search.Parse("making -wax")
	if err != nil {
		panic(err)
	}
	hits, total, err := index.Find(ctx, query, search.Filter{}, 10)
	fmt.Println(total, hits[0].URL, err)
	fmt.Println(search.NewMarker(query).Snippet("They make honey.", hits[0].Lang).Marked("**"))
	// Output:
	// <nil> <nil> <nil>
	// 1 http://bees.test/ <nil>
	// They **make** honey.
}
