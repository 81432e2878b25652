package crawler

import (
	"slices"
	"testing"

	"fossick/internal/page"
)

// TestLatest: only the last pages are remembered, and none that is too short.
func TestLatest(t *testing.T) {
	l := newLatest(2)
	for n := uint64(1); n <= 30; n++ {
		l.add(n, &page.Page{Signature: page.Signature{byte(n)}})
		l.add(100+n, &page.Page{})
	}
	var numbers []uint64
	for _, r := range l.pages {
		numbers = append(numbers, r.number)
	}
	slices.Sort(numbers)
	if want := []uint64{23, 24, 25, 26, 27, 28, 29, 30}; !slices.Equal(numbers, want) {
		t.Errorf("remembered %v, want %v", numbers, want)
	}
}
