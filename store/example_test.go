package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"fossick/store"
)

// A page is written in one batch with all that belongs to it, and read again.
func Example() {
	dir, err := os.MkdirTemp("", "store-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	s, err := store.Create(filepath.Join(dir, "bees"), store.Info{Topic: "bees"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	const url = "http://bees.test/"
	b := s.Batch() // after Commit all of it is stored; after a kill, all or nothing
	err = errors.Join(
		b.PutSeen(store.HashURL(url), 1, false),
		b.PutDiscovery(1, store.Discovery{URL: url, Via: store.ViaSeed}),
		b.PutPage(&store.Page{Number: 1, ID: 1, URL: url, Title: "Bees", Checksum: []byte("0123456789abcdef")}, s.Compress([]byte("<p>All of bees"))),
		b.PutOutcome(1, store.Outcome{State: "ok", Page: 1}),
		b.Commit(),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	for p, err := range s.Pages() {
		if err != nil {
			fmt.Println(err)
			return
		}
		body, err := s.Body(p.Number)
		fmt.Printf("page %d, %s, %s: %s %v\n", p.Number, p.URL, p.Title, body, err)
	}
	// Output: page 1, http://bees.test/, Bees: <p>All of bees <nil>
}
