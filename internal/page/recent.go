package page

import "iter"

// Cache keeps the latest entries in two halves: when the younger is full, the older is dropped. It
// holds between one and two times limit entries, and depends only on the order of calls.
type Cache[K comparable, V any] struct {
	young, old map[K]V
	limit      int // of each half
}

// NewCache returns a cache of at least limit entries.
func NewCache[K comparable, V any](limit int) Cache[K, V] {
	return Cache[K, V]{young: map[K]V{}, old: map[K]V{}, limit: limit}
}

// Recent is a cache by Key of a URL.
type Recent[V any] = Cache[uint64, V]

// NewRecent returns a Recent of at least limit entries.
func NewRecent[V any](limit int) Recent[V] { return NewCache[uint64, V](limit) }

func (r *Cache[K, V]) Get(key K) (v V, ok bool) {
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
func (r *Cache[K, V]) Peek(key K) (v V, ok bool) {
	if v, ok = r.young[key]; ok {
		return v, true
	}
	v, ok = r.old[key]
	return v, ok
}

// Change changes an entry just found by Peek, without marking it as used.
func (r *Cache[K, V]) Change(key K, v V) {
	if _, young := r.young[key]; young {
		r.young[key] = v
	} else {
		r.old[key] = v
	}
}

// Put adds an entry that Get did not find.
func (r *Cache[K, V]) Put(key K, v V) {
	if len(r.young) >= r.limit {
		r.old, r.young = r.young, make(map[K]V, r.limit/4)
	}
	r.young[key] = v
}

// Raise adds an entry, or replaces one that is less, and returns the entry that stays.
func (r *Cache[K, V]) Raise(key K, v V, less func(a, b V) bool) V {
	switch old, ok := r.Get(key); {
	case !ok:
		r.Put(key, v)
	case less(old, v):
		r.Set(key, v)
	default:
		return old
	}
	return v
}

// Entry returns a cache's entry of a key, new if there is none.
func Entry[K comparable, V any](c *Cache[K, *V], key K) *V {
	v, ok := c.Get(key)
	if !ok {
		v = new(V)
		c.Put(key, v)
	}
	return v
}

// Set changes an entry that Get found.
func (r *Cache[K, V]) Set(key K, v V) { r.young[key] = v }

func (r *Cache[K, V]) Remove(key K) {
	delete(r.young, key)
	delete(r.old, key)
}

func (r *Cache[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for _, half := range []map[K]V{r.young, r.old} {
			for key, v := range half {
				if !yield(key, v) {
					return
				}
			}
		}
	}
}

// Young returns the size of the younger half.
func (r *Cache[K, V]) Young() int { return len(r.young) }
