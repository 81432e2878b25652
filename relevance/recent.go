package relevance

// recent is a map from page keys that keeps what was used last: two halves, of
// which the older is given up when the younger is full. So it holds between one
// and two times limit, and which entries it forgets depends on nothing but the
// order of the calls.
type recent[V any] struct {
	young, old map[uint64]V
	limit      int // of each half
}

// How much a scorer remembers, in each half: half a million targets of about 100
// bytes, half a million fetched pages and 130,000 hosts; less than 100 MiB in all. A crawl
// of fewer loses nothing.
const (
	maxEvidence = 1 << 18
	maxFetched  = 1 << 18
	maxHosts    = 1 << 16
)

// What Learned remembers besides fetched pages, in both halves: 184,000 targets of
// about 190 bytes, 130,000 hosts and folders, 260,000 words of pages and as many of
// links.
const (
	maxTargets     = 92_000
	maxPlaces      = 1 << 16
	maxVocabulary  = 1 << 17
	maxSourcePages = 1 << 10 // pages scored whose links were not, one a worker at most
)

func newRecent[V any](limit int) recent[V] {
	return recent[V]{young: map[uint64]V{}, old: map[uint64]V{}, limit: limit}
}

// get finds an entry and counts as its use.
func (r *recent[V]) get(key uint64) (v V, ok bool) {
	if v, ok = r.young[key]; ok {
		return v, true
	}
	if v, ok = r.old[key]; ok {
		delete(r.old, key)
		r.put(key, v)
	}
	return v, ok
}

// peek finds an entry, and does not count.
func (r *recent[V]) peek(key uint64) (v V, ok bool) {
	if v, ok = r.young[key]; ok {
		return v, true
	}
	v, ok = r.old[key]
	return v, ok
}

// update changes what get has just found.
func (r *recent[V]) update(key uint64, v V) { r.young[key] = v }

// change changes what peek has just found, and does not count.
func (r *recent[V]) change(key uint64, v V) {
	if _, young := r.young[key]; young {
		r.young[key] = v
	} else {
		r.old[key] = v
	}
}

// put enters what get did not find.
func (r *recent[V]) put(key uint64, v V) {
	if len(r.young) >= r.limit {
		r.old, r.young = r.young, make(map[uint64]V, r.limit/4)
	}
	r.young[key] = v
}

// set changes what get has just found.
func (r *recent[V]) set(key uint64, v V) { r.young[key] = v }

func (r *recent[V]) remove(key uint64) {
	delete(r.young, key)
	delete(r.old, key)
}
