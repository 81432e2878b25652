package learned

import (
	"math/rand/v2"
	"testing"

	"fossick/internal/page"
)

// TestWordTableAgainstMaps does the same to a table and to what it stands in for: a
// map with two halves. Both must know the same words, with the same records.
func TestWordTableAgainstMaps(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, limit := range []int{1, 7, 600, 3000} {
		table, maps := newWordTable(limit), page.NewRecent[record](limit)
		for i := range 20_000 {
			w := 1 + token(rng.ExpFloat64()*float64(limit))
			if i%3 == 0 {
				want, known := maps.Peek(uint64(w))
				if got := table.find(w); (got.token != 0) != known || got.page != want {
					t.Fatalf("limit %d, step %d: word %d is %v, want %v, known %v", limit, i, w, *got, want, known)
				}
				continue
			}
			r, known := maps.Get(uint64(w))
			r.add(float64(i % 2))
			if known {
				maps.Set(uint64(w), r)
			} else {
				maps.Put(uint64(w), r)
			}
			table.use(w).page.add(float64(i % 2))
		}
		if n := maps.Young(); table.n != n {
			t.Errorf("limit %d: %d words in the young half, want %d", limit, table.n, n)
		}
	}
}
