package cluster

import (
	"fmt"
	"testing"

	"fossick/internal/page"
)

// Sites spread evenly: of 102,400, no partition has half or twice its share.
func TestPartitionOf(t *testing.T) {
	var sites [partitions]int
	for i := range 100 * partitions {
		sites[partitionOf(fmt.Sprintf("site%d.test", i))]++
	}
	for p, n := range sites {
		if n < 50 || n > 200 {
			t.Errorf("partition %d has %d sites", p, n)
		}
	}
}

// TestPart: the memory of hosts changes no answer, also for more hosts than it holds.
func TestPart(t *testing.T) {
	s := newSites()
	for round := range 2 {
		for i := range 3 * rememberedHosts {
			u := fmt.Sprintf("http://www%d.site%d.test/x", i%3, i)
			if i%1000 == 0 || round == 0 && i < 1000 {
				if got, want := s.Part(u), uint16(partitionOf(page.Site(u))); got != want {
					t.Fatalf("%s: %d, want %d", u, got, want)
				}
				continue
			}
			s.Part(u)
		}
	}
}
