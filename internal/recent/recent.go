// Package recent is a map that keeps what was used last.
package recent

import "iter"

// Map keeps what was used last in two halves: when the younger is full, the older is dropped. So it
// holds between one and two times limit, and forgets by the order of the calls alone.
type Map[V any] struct {
	young, old map[uint64]V
	limit      int // of each half
}

// New makes one that holds at least limit entries.
func New[V any](limit int) Map[V] {
	return Map[V]{young: map[uint64]V{}, old: map[uint64]V{}, limit: limit}
}

func (r *Map[V]) Get(key uint64) (v V, ok bool) {
	if v, ok = r.young[key]; ok {
		return v, true
	}
	if v, ok = r.old[key]; ok {
		delete(r.old, key)
		r.Put(key, v)
	}
	return v, ok
}

// Peek finds an entry without counting as its use.
func (r *Map[V]) Peek(key uint64) (v V, ok bool) {
	if v, ok = r.young[key]; ok {
		return v, true
	}
	v, ok = r.old[key]
	return v, ok
}

func (r *Map[V]) Update(key uint64, v V) { r.young[key] = v }

// Change changes what Peek has just found, without counting.
func (r *Map[V]) Change(key uint64, v V) {
	if _, young := r.young[key]; young {
		r.young[key] = v
	} else {
		r.old[key] = v
	}
}

// Put enters what Get did not find.
func (r *Map[V]) Put(key uint64, v V) {
	if len(r.young) >= r.limit {
		r.old, r.young = r.young, make(map[uint64]V, r.limit/4)
	}
	r.young[key] = v
}

func (r *Map[V]) Set(key uint64, v V) { r.young[key] = v }

func (r *Map[V]) Remove(key uint64) {
	delete(r.young, key)
	delete(r.old, key)
}

func (r *Map[V]) All() iter.Seq2[uint64, V] {
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

// Young is the size of the younger half.
func (r *Map[V]) Young() int { return len(r.young) }
