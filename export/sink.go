package export

import (
	"context"
	"io"

	"fossick/export/collection"
)

// Sink writes pages in one format. One goroutine uses it.
type Sink interface {
	// Write takes the next page, which it must not change. It may keep it.
	Write(ctx context.Context, p *collection.Page) error
	// Finish writes what is left, after the last page of an export that went well.
	Finish(ctx context.Context) error
	// Close gives back what the sink holds, whether it finished or not. It is called once.
	Close() error
}

// Place is where the files of an export go.
type Place interface {
	// Create begins a file. The name is a path inside the export, with slashes.
	// Safe for concurrent use.
	Create(name string) (io.WriteCloser, error)
}
