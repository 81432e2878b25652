package frontier

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// TestExpect: what a frontier in memory asks about it has announced, with the priority
// that it has, and not long before.
func TestExpect(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	var announced []uint64
	f, err := New(Options{Expect: func(key uint64, _ float64) { announced = append(announced, key) }})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1e9, 0)
	for i := range 3000 {
		f.Push(Item{ID: ID(i + 1), Host: f.Host(fmt.Sprintf("h%d", i%40)), Priority: rng.Float64(), Key: uint64(i)})
	}
	for range 30 { // hosts that are in use, with URLs of theirs parked
		f.Next(now)
	}
	asked, move := 0, true
	ask := func(key uint64, _ float64) (float64, bool) {
		asked++
		last := announced[max(0, len(announced)-expectRow):]
		for _, k := range last {
			if k == key {
				return rng.Float64(), move && key%3 > 0
			}
		}
		t.Fatalf("URL %d is asked about, and the last ones announced are %v", key, last)
		return 0, false
	}
	f.Reprioritise(ask)
	if asked < 2900 {
		t.Errorf("asked about %d URLs of 3,000", asked)
	}
	asked, move = 0, false // where a heap moves, some are not announced
	for !f.Renew(100, ask) {
	}
	if asked < 2900 {
		t.Errorf("asked about %d URLs of 3,000 in parts", asked)
	}
}
