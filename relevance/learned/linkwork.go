package learned

import (
	"slices"

	"fossick/internal/page"
)

// linkWork is room for what is found out about the links of a page, which is used again
// for the next page's. It serves one goroutine.
type linkWork struct {
	keys    []uint64    // page.Key of the targets
	links   []inLink    // with what the page says
	targets []*evidence // of those that wait
}

// begin makes room for p's links.
func (w *linkWork) begin(p *page.Page) {
	n := len(p.Links)
	w.links, w.targets = zeros(w.links, n), zeros(w.targets, n)
	w.name(p)
}

// name makes the targets' keys.
func (w *linkWork) name(p *page.Page) {
	w.keys = w.keys[:0]
	for i := range p.Links {
		w.keys = append(w.keys, page.Key(p.Links[i].URL))
	}
}

// zeros returns n zeros, in the place of s where there is room.
func zeros[T any](s []T, n int) []T {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}
