package database_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"fossick/export/collection"
	"fossick/export/database"
)

// here is a folder that sinks write to.
type here string

func (dir here) Path(name string) (string, error) { return filepath.Join(string(dir), name), nil }

// A page is written to a file of SQLite.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	sink, err := database.NewSQLite(here(dir), "pages.sqlite")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer sink.Close()
	ctx := context.Background()
	p := &collection.Page{ID: "urn:uuid:1", URL: "http://a.test/", Source: &collection.Source{Name: "crawl"}, Fetched: time.Unix(0, 0), Text: "moles"}
	fmt.Println(sink.Write(ctx, p), sink.Finish(ctx))
	// Output: <nil> <nil>
}
