package cluster

import (
	"fmt"
	"testing"
)

// Sites spread evenly: of 102,400, no partition has half or twice its share.
func TestPartitionOf(t *testing.T) {
	var sites [partitions]int
	for i := range 100 * partitions {
		sites[PartitionOf(fmt.Sprintf("site%d.test", i))]++
	}
	for p, n := range sites {
		if n < 50 || n > 200 {
			t.Errorf("partition %d has %d sites", p, n)
		}
	}
}
