package store

import (
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bits-and-blooms/bloom/v3"
	"github.com/dgraph-io/badger/v4"
)

// seenFilter stands before the seen-set, which is exact and on disk. Most links
// lead to URLs that are known, but each new one would ask the disk twice for
// what it does not have. Its filter has 28 MiB at most: that holds for 22
// million URLs, at 100 million a half of the new ones ask the disk in vain.
type seenFilter struct {
	lately seenLately
	keyFilter
}

// lacks says that h is certainly not in the seen-set.
func (f *seenFilter) lacks(h Hash) bool { return f != nil && f.keyFilter.lacks(h) }

// knows tells what need not be asked of the disk: that h is a URL seen lately, or
// certainly not in the seen-set.
func (f *seenFilter) knows(h Hash) (seen Seen, known bool) {
	if f == nil {
		return Seen{}, false
	}
	if seen, known = f.lately.get(h); known {
		return seen, true
	}
	return Seen{}, f.lacks(h)
}

// found takes note of what the disk said of h, outside of any batch.
func (f *seenFilter) found(h Hash, seen Seen) {
	if f != nil {
		f.lately.put(h, seen)
	}
}

// pageFilterSteps make the filter before the contents and bands of stored pages
// 11 MiB at most. With six keys a page it holds for 1.4 million pages; at 5
// million every other key asks the disk in vain.
const pageFilterSteps = 4

// contentHash names a page's checksum in the filter of stored pages, bandHash a key
// of the index of near-duplicates.
func contentHash(checksum []byte) (h Hash) {
	copy(h[:], checksum)
	return h
}

func bandHash(k []byte) (h Hash) {
	kind := min(2, len(k))
	n := copy(h[:], k[kind:]) // the band's bytes first: the first one chooses the shard
	copy(h[n:], k[:kind])
	return h
}

// FilterSeen puts Bloom filters before the seen-set and before what pages are
// compared by, for a crawl that will look much up. It returns at once; until
// all that is on disk was read, which goes on beside the crawl, look-ups ask the disk.
// Call it before the first Batch; a second call does nothing.
func (s *Store) FilterSeen() {
	if s.filter != nil {
		return
	}
	s.filter, s.pageFilter = &seenFilter{}, &keyFilter{steps: pageFilterSteps}
	s.upkeep.beside(func(stop <-chan struct{}) {
		// With an error the disk goes on being asked, and tells it.
		seen := s.filter.keyFilter.fill(s.records, stop, keySeen, func(k []byte) Hash { return Hash(k[1:]) }, 1+len(Hash{}))
		s.filter.ready.Store(seen == nil)
		contents := s.pageFilter.fill(s.records, stop, keyContent, func(k []byte) Hash { return contentHash(k[1:]) }, 1)
		bands := s.pageFilter.fill(s.records, stop, keyNear, bandHash, 2+nearRows)
		s.pageFilter.ready.Store(contents == nil && bands == nil)
	})
}

// fill enters the keys of a kind; shorter ones are damaged, and named by nobody.
func (f *keyFilter) fill(r *records, stop <-chan struct{}, kind byte, hash func(k []byte) Hash, least int) error {
	return r.view(func(txn *badger.Txn) error {
		for item := range items(txn, key(kind)) {
			if k := item.Key(); len(k) >= least {
				f.add(hash(k))
			}
			select {
			case <-stop:
				return ErrUnknown // the rest of it
			default:
			}
		}
		return nil
	})
}

// keyFilter is a Bloom filter before keys that are on disk, for those that are mostly
// asked for in vain. It is cut into shards by the key's first byte, with a lock each,
// and grows by steps: workers do not wait for one another (paper D5). The zero value is
// empty, and sure of nothing until it is ready.
type keyFilter struct {
	ready  atomic.Bool // the shards hold all that is on disk
	steps  int         // of filterBits that it may take; 0 all
	shards [filterShards]filterShard
}

// filterShard has filters of growing size: a new one is begun when the last is full,
// until the largest, which then takes all that comes.
type filterShard struct {
	mu      sync.RWMutex // guards what follows
	filters []*bloom.BloomFilter
	room    int // keys that the last filter should still take
}

// 128 shards, as paper D5 has roots. The filters of all of them come to 28 MiB,
// whatever the number of keys, or 11 with four steps; a small crawl has the first,
// 128 KiB. With ten bits a key under 3 % of those that are not there ask the disk in
// vain.
const (
	filterShards  = 128
	filterKeyBits = 10
	filterHashes  = 6
)

// filterBits are the sizes of a shard's filters.
var filterBits = [...]uint{1 << 13, 1 << 15, 1 << 17, 1 << 19, 1 << 20}

func (f *keyFilter) add(h Hash) {
	if f == nil {
		return
	}
	steps := f.steps
	if steps == 0 {
		steps = len(filterBits)
	}
	s := &f.shards[h[0]%filterShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.filters); s.room <= 0 && n < steps {
		s.filters = append(s.filters, bloom.New(filterBits[n], filterHashes))
		s.room = int(filterBits[n] / filterKeyBits)
	}
	s.filters[len(s.filters)-1].Add(h[:])
	s.room--
}

// lacks says that h is certainly not on disk.
func (f *keyFilter) lacks(h Hash) bool {
	if f == nil || !f.ready.Load() {
		return false
	}
	s := &f.shards[h[0]%filterShards]
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, filter := range slices.Backward(s.filters) { // the last has most
		if filter.Test(h[:]) {
			return false
		}
	}
	return true
}

// seenLately remembers the URLs of the seen-set that were asked for last. Pages
// of a site name the same ones again and again, and each would be a look-up on
// disk. Only what cannot change is in it: a URL that is not skipped keeps its
// number and is never skipped again.
type seenLately struct {
	shards [filterShards]latelyShard
}

// latelyShard has a slot for each remainder of the hash: the last URL asked for.
type latelyShard struct {
	mu    sync.RWMutex // guards slots
	slots [latelySlots]latelySlot
}

// latelySlots are the URLs a shard remembers: 131,072 in all, in 3 MiB.
const latelySlots = 1024

type latelySlot struct {
	hash Hash
	id   ID
}

func (l *seenLately) slot(h Hash) (*latelyShard, *latelySlot) {
	shard := &l.shards[h[0]%filterShards]
	return shard, &shard.slots[binary.BigEndian.Uint32(h[4:])%latelySlots]
}

// get returns what is remembered of a URL.
func (l *seenLately) get(h Hash) (Seen, bool) {
	shard, slot := l.slot(h)
	shard.mu.RLock()
	defer shard.mu.RUnlock()
	return Seen{ID: slot.id}, slot.id != 0 && slot.hash == h
}

// put remembers what was read of a URL, if it can be relied on.
func (l *seenLately) put(h Hash, seen Seen) {
	if seen.ID == 0 || seen.Skipped {
		return
	}
	shard, slot := l.slot(h)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	*slot = latelySlot{h, seen.ID}
}
