package page

import "iter"

// Recent is a cache of the latest entries in two halves: when the younger is full, the older is
// dropped. It holds between one and two times limit entries, and depends only on the order of
// calls.
type Recent[V any] struct {
	young, old map[uint64]V
	limit      int // of each half
}

// NewRecent returns a cache of at least limit entries.
func NewRecent[V any](limit int) Recent[V] {
	return Recent[V]{young: map[uint64]V{}, old: map[uint64]V{}, limit: limit}
}

func (r *Recent[V]) Get(key uint64) (v V, ok bool) {
	if v, ok = r.young[key]; ok {
		return v, true
	}
	if v, ok = r.old[key]; ok {
		delete(r.old, key)
		r.Put(key, v)
	}
	return v, ok
}

// Peek finds an entry without marking it as used.
func (r *Recent[V]) Peek(key uint64) (v V, ok bool) {
	if v, ok = r.young[key]; ok {
		return v, true
	}
	v, ok = r.old[key]
	return v, ok
}

func (r *Recent[V]) Update(key uint64, v V) { r.young[key] = v }

// Change changes an entry just found by Peek, without marking it as used.
func (r *Recent[V]) Change(key uint64, v V) {
	if _, young := r.young[key]; young {
		r.young[key] = v
	} else {
		r.old[key] = v
	}
}

// Put adds an entry that Get did not find.
func (r *Recent[V]) Put(key uint64, v V) {
	if len(r.young) >= r.limit {
		r.old, r.young = r.young, make(map[uint64]V, r.limit/4)
	}
	r.young[key] = v
}

func (r *Recent[V]) Set(key uint64, v V) { r.young[key] = v }

func (r *Recent[V]) Remove(key uint64) {
	delete(r.young, key)
	delete(r.old, key)
}

func (r *Recent[V]) All() iter.Seq2[uint64, V] {
	return func(yield func(uint64, V) bool) {
		for _, half := range []map[uint64]V{r.young, r.old} {
			for key, v := range half {
				if !yield(key, v) {
					return
				}
			}
		}
	}
}

// Young returns the size of the younger half.
func (r *Recent[V]) Young() int { return len(r.young) }
