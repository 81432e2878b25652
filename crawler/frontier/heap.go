package frontier

import (
	"cmp"
	"slices"
)

// heap is a binary heap of elements that know their place in it, so that a changed key costs
// O(log n) (increase-key). Unlike container/heap it compares without an interface.
type heap[T any] struct {
	items []T
	less  func(a, b T) bool
	place func(x T) *int // where x keeps its index; -1 outside a heap
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
	h.items[last] = zero // frees it for the collector
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

// moveTo moves x between two heaps, either of which may be nil, and returns the latter. In the
// same heap it restores the order.
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

// entry is one copy of a queued URL.
type entry struct {
	id       ID
	priority float64
	host     Host
	key      uint64
}

// before reports whether e is fetched before o.
func (e *entry) before(o *entry) bool {
	if e.priority != o.priority {
		return e.priority > o.priority
	}
	return e.id < o.id
}

// byRank sorts entries as they are fetched.
func byRank(entries []entry) {
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(a.id, b.id))
	})
}

// entryHeap is a heap of entries, best on top. Its nodes have four children, which halves the
// levels and keeps children side by side.
type entryHeap []entry

func (h *entryHeap) push(e entry) {
	*h = append(*h, e)
	h.up(len(*h) - 1)
}

// up restores the order after the entry at i became better.
func (h entryHeap) up(i int) {
	q, e := h, h[i]
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(&q[parent]) {
			break
		}
		q[i] = q[parent]
		i = parent
	}
	q[i] = e
}

func (h *entryHeap) pop() entry {
	q := *h
	top, last := q[0], len(q)-1
	q[0] = q[last]
	*h = q[:last]
	if last > 1 {
		h.down(0)
	}
	return top
}

// down restores the order after the entry at i became worse, and reports whether it moved.
func (h entryHeap) down(i int) (moved bool) {
	e := h[i]
	for {
		first := 4*i + 1
		if first >= len(h) {
			break
		}
		best := first
		for c := first + 1; c < min(first+4, len(h)); c++ {
			if h[c].before(&h[best]) {
				best = c
			}
		}
		if !h[best].before(&e) {
			break
		}
		h[i] = h[best]
		i, moved = best, true
	}
	h[i] = e
	return moved
}

// heapify restores the order after many entries changed.
func (h entryHeap) heapify() {
	for i := (len(h)+2)/4 - 1; i >= 0; i-- {
		h.down(i)
	}
}

// filter drops the entries for which keep is false; keep may change the others.
func (h *entryHeap) filter(keep func(e *entry) bool) {
	kept := (*h)[:0]
	for i := range *h {
		if e := &(*h)[i]; keep(e) {
			kept = append(kept, *e)
		}
	}
	*h = kept
	h.heapify()
}
