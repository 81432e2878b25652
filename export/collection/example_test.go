package collection_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"fossick/export/collection"
	"fossick/store"
)

// A store of one page is read.
func Example() {
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	crawl := filepath.Join(dir, "crawl")
	s, err := store.Create(crawl, store.Info{Topic: "bees"})
	if err != nil {
		panic(err)
	}
	b := s.Batch()
	p := &store.Page{Number: 1, ID: 1, URL: "http://bees.test/", At: 1e12, Relevant: true}
	fmt.Println(b.PutBirth(1, store.Birth{URL: p.URL, Via: store.ViaSeed}), b.PutPage(p, s.Compress([]byte("<p>Honey"))), b.Commit(), s.Close())

	ctx := context.Background()
	pages, err := collection.Open(ctx, []string{crawl}, collection.Options{Open: func(dir string) (*store.Store, func() error, error) {
		s, err := store.OpenToRead(dir)
		return s, s.Close, err
	}, Text: func(body []byte, _ *collection.Page, _ collection.Want) (text, markdown string) {
		return strings.TrimPrefix(string(body), "<p>"), ""
	}})
	if err != nil {
		panic(err)
	}
	defer pages.Close()
	selection, err := pages.Select(ctx, collection.Choice{}, collection.Want{Text: true})
	if err != nil {
		panic(err)
	}
	for p, err := range selection.Pages(ctx) {
		fmt.Println(p.ID, p.URL, p.Label, p.Text, err)
	}
	// Output:
	// <nil> <nil> <nil> <nil>
	// urn:uuid:a31fa261-feb1-857d-a308-9658922a5833 http://bees.test/ bees Honey <nil>
}
