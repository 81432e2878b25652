package network_test

import (
	"context"
	"fmt"
	"io"
	"os"

	"fossick/export/collection"
	"fossick/export/network"
)

// shown shows what is written.
type shown struct{ name string }

func (shown) Create(name string) (io.WriteCloser, error) { return shown{name}, nil }
func (shown) Close() error                               { return nil }
func (s shown) Write(b []byte) (int, error)              { return fmt.Fprintf(os.Stdout, "%s: %s", s.name, b) }

// Two pages, of which the first links to the second.
func Example() {
	sink, err := network.NewEdges(shown{}, "links/")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer sink.Close()
	ctx := context.Background()
	for _, p := range []*collection.Page{
		{ID: "urn:uuid:a", Node: 0, URL: "http://a.test/", Links: []uint32{1}},
		{ID: "urn:uuid:b", Node: 1, URL: "http://b.test/"},
	} {
		if err := sink.Write(ctx, p); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(sink.Finish(ctx))
	// Output:
	// links/links.nodes.tsv: 0	urn:uuid:a	http://a.test/
	// links/links.urls.tsv: 0	http://a.test/
	// links/links.edges.tsv: 0	1
	// links/links.nodes.tsv: 1	urn:uuid:b	http://b.test/
	// links/links.urls.tsv: 1	http://b.test/
	// <nil>
}
