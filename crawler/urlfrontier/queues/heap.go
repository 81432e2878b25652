package queues

// heap is a binary heap whose members know their places, so that any of them can be
// moved or taken out in O(log n).
type heap[T any] struct {
	all    []*T
	before func(a, b *T) bool
	place  func(*T) *int32 // where a member notes its place
}

func (h *heap[T]) len() int { return len(h.all) }

// top is the first, nil when there is none.
func (h *heap[T]) top() *T {
	if len(h.all) == 0 {
		return nil
	}
	return h.all[0]
}

func (h *heap[T]) push(x *T) {
	h.all = append(h.all, x)
	h.up(len(h.all)-1, x)
}

// remove takes out x, which must be in the heap.
func (h *heap[T]) remove(x *T) {
	at, last := int(*h.place(x)), len(h.all)-1
	moved := h.all[last]
	h.all[last] = nil
	h.all = h.all[:last]
	if at != last {
		h.set(at, moved)
		h.fix(moved)
	}
	if cap(h.all) > 64 && last < cap(h.all)/4 { // what a flood needed is given back
		h.all = append(make([]*T, 0, cap(h.all)/2), h.all...)
	}
}

// fix moves x to where it belongs after a change.
func (h *heap[T]) fix(x *T) {
	at := int(*h.place(x))
	h.down(at, x)
	if int(*h.place(x)) == at {
		h.up(at, x)
	}
}

func (h *heap[T]) set(at int, x *T) {
	h.all[at] = x
	*h.place(x) = int32(at)
}

func (h *heap[T]) up(at int, x *T) {
	for at > 0 {
		parent := (at - 1) / 2
		if !h.before(x, h.all[parent]) {
			break
		}
		h.set(at, h.all[parent])
		at = parent
	}
	h.set(at, x)
}

func (h *heap[T]) down(at int, x *T) {
	for {
		child := 2*at + 1
		if child >= len(h.all) {
			break
		}
		if right := child + 1; right < len(h.all) && h.before(h.all[right], h.all[child]) {
			child = right
		}
		if !h.before(h.all[child], x) {
			break
		}
		h.set(at, h.all[child])
		at = child
	}
	h.set(at, x)
}
