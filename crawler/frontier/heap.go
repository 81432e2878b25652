package frontier

// heap is a binary heap of elements that know their place in it, so that one
// whose key changed is moved in O(log n) (increase-key). container/heap does
// the same through an interface; this one keeps the comparisons direct.
type heap[T any] struct {
	items []T
	less  func(a, b T) bool
	place func(x T) *int // where x keeps its index; -1 when it is in no heap
}

func (h *heap[T]) len() int { return len(h.items) }

func (h *heap[T]) top() T { return h.items[0] }

func (h *heap[T]) push(x T) {
	h.items = append(h.items, x)
	*h.place(x) = len(h.items) - 1
	h.up(len(h.items) - 1)
}

func (h *heap[T]) remove(x T) {
	i, last := *h.place(x), len(h.items)-1
	h.swap(i, last)
	var zero T
	h.items[last] = zero // the slice must not keep it alive
	h.items = h.items[:last]
	*h.place(x) = -1
	if i < last {
		h.move(i)
	}
}

// fix restores the order after x's key changed.
func (h *heap[T]) fix(x T) { h.move(*h.place(x)) }

func (h *heap[T]) move(i int) {
	if !h.down(i) {
		h.up(i)
	}
}

func (h *heap[T]) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !h.less(h.items[i], h.items[parent]) {
			return
		}
		h.swap(i, parent)
		i = parent
	}
}

func (h *heap[T]) down(i int) (moved bool) {
	for {
		child := 2*i + 1
		if child >= len(h.items) {
			return moved
		}
		if right := child + 1; right < len(h.items) && h.less(h.items[right], h.items[child]) {
			child = right
		}
		if !h.less(h.items[child], h.items[i]) {
			return moved
		}
		h.swap(i, child)
		i, moved = child, true
	}
}

func (h *heap[T]) swap(i, j int) {
	h.items[i], h.items[j] = h.items[j], h.items[i]
	*h.place(h.items[i]) = i
	*h.place(h.items[j]) = j
}

// moveTo moves x from one heap to another, either of which may be nil for none, and
// returns the latter. In the same heap its order is restored.
func moveTo[T any](x T, from, to *heap[T]) *heap[T] {
	if from == to {
		if to != nil {
			to.fix(x)
		}
		return to
	}
	if from != nil {
		from.remove(x)
	}
	if to != nil {
		to.push(x)
	}
	return to
}
