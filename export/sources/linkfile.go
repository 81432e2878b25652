package sources

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"fossick/export/convert/links"
	"fossick/graph"
)

// buildLinks builds the graph of a link file. Beside X.bin a file X.urls.tsv (id TAB URL) names
// its pages; without it those that have no links are no nodes.
func buildLinks(ctx context.Context, path, out string, opt graph.BuildOptions) (graph.Stats, error) {
	r, done, err := links.Open(path)
	if err != nil {
		return graph.Stats{}, err
	}
	names := strings.TrimSuffix(path, filepath.Ext(path)) + ".urls.tsv"
	if _, err := os.Stat(names); err != nil {
		names = ""
	}
	stats, err := graph.BuildNumbers(ctx, names, out, opt, func(edge func(src, dst uint32) error) error {
		for n := 0; ; n++ {
			if n%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			source, destinations, err := r.Next()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			for _, to := range destinations {
				if err := edge(source, to); err != nil {
					return err
				}
			}
		}
	})
	return stats, errors.Join(err, done())
}
