package importer_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"fossick/datasets"
	"fossick/export/importer"
)

// Two pages that somebody saved become a store.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	saved := func(yield func(*datasets.Example, error) bool) {
		_ = yield(&datasets.Example{URL: "http://a.test/", HTML: `<p>moles <a href="/dig">dig</a>`}, nil) &&
			yield(&datasets.Example{URL: "http://a.test/dig", HTML: "<p>how moles dig"}, nil)
	}
	opt := importer.Options{Source: "saved", Log: slog.New(slog.DiscardHandler), Progress: func(uint64) {}}
	r, err := importer.Run(ctx, saved, filepath.Join(dir, "store"), opt)
	fmt.Println(r.Pages, err)
	// Output: 2 <nil>
}
