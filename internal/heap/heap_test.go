package heap

import (
	"math/rand/v2"
	"slices"
	"testing"
)

type member struct{ key, place int32 }

// TestHeap: after any changes the members come out in order, know their places, and one that was
// removed knows that.
func TestHeap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	h := Heap[*member]{
		Before: func(a, b *member) bool { return a.key < b.key },
		Place:  func(m *member) *int32 { return &m.place },
	}
	for range 100 {
		h.All = append(h.All, &member{key: rng.Int32N(50)})
	}
	h.Init()
	for range 2000 {
		switch at := rng.IntN(h.Len() + 1); {
		case at == h.Len() || h.Len() < 5:
			h.Push(&member{key: rng.Int32N(50)})
		case rng.IntN(2) == 0:
			h.All[at].key = rng.Int32N(50)
			h.Fix(h.All[at])
		default:
			gone := h.All[at]
			if h.Remove(gone); gone.place != -1 {
				t.Fatalf("a removed member is at %d", gone.place)
			}
		}
		for i, m := range h.All {
			if int(m.place) != i {
				t.Fatalf("the member at %d believes to be at %d", i, m.place)
			}
		}
	}
	var keys []int32
	for m := h.Top(); m != nil; m = h.Top() {
		keys = append(keys, m.key)
		h.Remove(m)
	}
	if !slices.IsSorted(keys) || len(keys) == 0 {
		t.Errorf("out of order: %v", keys)
	}
}
