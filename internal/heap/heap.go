// Package heap is a binary heap whose members know their place in it, so that any can be moved or
// removed in O(log n). Unlike container/heap it compares without an interface.
package heap

// Heap is a heap of pointers or numbers; one with Before and Place is ready.
type Heap[T any] struct {
	All    []T // the first is on top
	Before func(a, b T) bool
	Place  func(T) *int32 // where a member keeps its index; -1 once it was removed
}

func (h *Heap[T]) Len() int { return len(h.All) }

// Top returns the first member, or nil.
func (h *Heap[T]) Top() (top T) {
	if len(h.All) > 0 {
		top = h.All[0]
	}
	return top
}

// Init orders All, which was filled in any order.
func (h *Heap[T]) Init() {
	for at, x := range h.All {
		h.set(at, x)
	}
	for at := len(h.All)/2 - 1; at >= 0; at-- {
		h.down(at, h.All[at])
	}
}

func (h *Heap[T]) Push(x T) {
	h.All = append(h.All, x)
	h.up(len(h.All)-1, x)
}

// Remove removes x, which must be in the heap.
func (h *Heap[T]) Remove(x T) {
	at, last := int(*h.Place(x)), len(h.All)-1
	moved := h.All[last]
	var none T
	h.All[last] = none // frees it for the collector
	h.All = h.All[:last]
	if at != last {
		h.set(at, moved)
		h.Fix(moved)
	}
	*h.Place(x) = -1
	if cap(h.All) > 64 && last < cap(h.All)/4 { // free memory after a peak
		h.All = append(make([]T, 0, cap(h.All)/2), h.All...)
	}
}

// Fix restores the order after a change of x.
func (h *Heap[T]) Fix(x T) {
	at := int(*h.Place(x))
	h.down(at, x)
	if int(*h.Place(x)) == at {
		h.up(at, x)
	}
}

func (h *Heap[T]) set(at int, x T) {
	h.All[at] = x
	*h.Place(x) = int32(at)
}

func (h *Heap[T]) up(at int, x T) {
	for at > 0 {
		parent := (at - 1) / 2
		if !h.Before(x, h.All[parent]) {
			break
		}
		h.set(at, h.All[parent])
		at = parent
	}
	h.set(at, x)
}

func (h *Heap[T]) down(at int, x T) {
	for {
		child := 2*at + 1
		if child >= len(h.All) {
			break
		}
		if right := child + 1; right < len(h.All) && h.Before(h.All[right], h.All[child]) {
			child = right
		}
		if !h.Before(h.All[child], x) {
			break
		}
		h.set(at, h.All[child])
		at = child
	}
	h.set(at, x)
}
