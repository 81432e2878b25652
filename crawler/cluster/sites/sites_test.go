package sites

import (
	"fmt"
	"testing"

	"fossick/crawler/cluster"
	"fossick/internal/page"
)

// TestPart: what is remembered is what would be found out, also of more hosts than are.
func TestPart(t *testing.T) {
	s := New()
	for round := range 2 {
		for i := range 3 * remembered {
			u := fmt.Sprintf("http://www%d.site%d.test/x", i%3, i)
			if i%1000 == 0 || round == 0 && i < 1000 {
				if got, want := s.Part(u), uint16(cluster.PartitionOf(page.Site(u))); got != want {
					t.Fatalf("%s: %d, want %d", u, got, want)
				}
				continue
			}
			s.Part(u)
		}
	}
}

func BenchmarkPart(b *testing.B) {
	s := New()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Part("http://www.example.test/some/page")
	}
}
