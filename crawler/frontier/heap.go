package frontier

import (
	"cmp"
	"fossick/internal/heap"
	"slices"
)

// moveTo moves x between two heaps, either of which may be nil, and returns the latter. In the
// same heap it restores the order.
func moveTo[T any](x T, from, to *heap.Heap[T]) *heap.Heap[T] {
	if from == to {
		if to != nil {
			to.Fix(x)
		}
		return to
	}
	if from != nil {
		from.Remove(x)
	}
	if to != nil {
		to.Push(x)
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
