package store

import (
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bits-and-blooms/bloom/v3"
	"github.com/dgraph-io/badger/v4"
)

// seenFilter spares the seen-set on disk look-ups that find nothing: two for each new link. Its 28
// MiB suffice for 22 million URLs; at 100 million, half of the new URLs still cause a look-up.
type seenFilter struct {
	lately seenLately
	keyFilter
}

func (f *seenFilter) lacks(h Hash) bool { return f != nil && f.keyFilter.lacks(h) }

// knows answers without the disk for a URL seen lately, or certainly not in the seen-set.
func (f *seenFilter) knows(h Hash) (seen Seen, known bool) {
	if f == nil {
		return Seen{}, false
	}
	if seen, known = f.lately.get(h); known {
		return seen, true
	}
	return Seen{}, f.lacks(h)
}

// found notes the disk's answer to a look-up outside of any batch.
func (f *seenFilter) found(h Hash, seen Seen) {
	if f != nil {
		f.lately.put(h, seen)
	}
}

// pageFilterSteps limits the filter for checksums and bands to 11 MiB, enough for 1.4 million
// pages. At 5 million, half of the absent keys still cause a look-up.
const pageFilterSteps = 4

// contentHash and bandHash are the keys of checksums and bands in the filter of stored pages.
func contentHash(checksum []byte) (h Hash) {
	copy(h[:], checksum)
	return h
}

func bandHash(k []byte) (h Hash) {
	kind := min(2, len(k))
	n := copy(h[:], k[kind:]) // the band's bytes first, since the first byte chooses the shard
	copy(h[n:], k[:kind])
	return h
}

// FilterSeen puts Bloom filters before seen-set, checksums and bands, and fills them in the
// background; until then look-ups go to disk. Call it before the first Batch.
func (s *Store) FilterSeen() {
	if s.filter != nil {
		return
	}
	s.filter, s.pageFilter = &seenFilter{}, &keyFilter{steps: pageFilterSteps}
	s.upkeep.beside(func(stop <-chan struct{}) {
		// After an error look-ups keep going to disk, which reports it.
		seen := s.filter.keyFilter.fill(s.records, stop, keySeen, func(k []byte) Hash { return Hash(k[1:]) }, 1+len(Hash{}))
		s.filter.ready.Store(seen == nil)
		contents := s.pageFilter.fill(s.records, stop, keyContent, func(k []byte) Hash { return contentHash(k[1:]) }, 1)
		bands := s.pageFilter.fill(s.records, stop, keyNear, bandHash, 2+nearRows)
		s.pageFilter.ready.Store(contents == nil && bands == nil)
	})
}

// fill adds the keys of a kind; keys shorter than least are damaged.
func (f *keyFilter) fill(r *records, stop <-chan struct{}, kind byte, hash func(k []byte) Hash, least int) error {
	return r.view(func(txn *badger.Txn) error {
		for item := range items(txn, key(kind)) {
			if k := item.Key(); len(k) >= least {
				f.add(hash(k))
			}
			select {
			case <-stop:
				return ErrUnknown // stopped before the end
			default:
			}
		}
		return nil
	})
}

// keyFilter is a growing Bloom filter for keys that are mostly absent on disk. Each of its shards
// has a lock, to spare workers waiting (paper D5). Until ready it excludes nothing.
type keyFilter struct {
	ready  atomic.Bool // the shards hold all keys on disk
	steps  int         // how many sizes of filterBits it may use; 0 for all
	shards [filterShards]filterShard
}

type filterShard struct {
	mu      sync.RWMutex // guards the fields below
	filters []*bloom.BloomFilter
	room    int // keys that still fit the last filter
}

// There are 128 shards, as many as paper D5 has roots. All filters take 128 KiB at first and at
// most 28 MiB, or 11 with four steps. Ten bits per key leave under 3 % false positives.
const (
	filterShards  = 128
	filterKeyBits = 10
	filterHashes  = 6
)

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

// lacks reports whether h is certainly not on disk.
func (f *keyFilter) lacks(h Hash) bool {
	if f == nil || !f.ready.Load() {
		return false
	}
	s := &f.shards[h[0]%filterShards]
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, filter := range slices.Backward(s.filters) { // the last filter holds most keys
		if filter.Test(h[:]) {
			return false
		}
	}
	return true
}

// seenLately caches the URLs looked up last, since the pages of a site name the same ones again and
// again. It holds only what cannot change: the ID of a URL that is not skipped.
type seenLately struct {
	shards [filterShards]latelyShard
}

type latelyShard struct {
	mu    sync.RWMutex // guards slots
	slots [latelySlots]latelySlot
}

// latelySlots is the number of URLs per shard: 131,072 in all, in 3 MiB.
const latelySlots = 1024

type latelySlot struct {
	hash Hash
	id   ID
}

func (l *seenLately) slot(h Hash) (*latelyShard, *latelySlot) {
	shard := &l.shards[h[0]%filterShards]
	return shard, &shard.slots[binary.BigEndian.Uint32(h[4:])%latelySlots]
}

func (l *seenLately) get(h Hash) (Seen, bool) {
	shard, slot := l.slot(h)
	shard.mu.RLock()
	defer shard.mu.RUnlock()
	return Seen{ID: slot.id}, slot.id != 0 && slot.hash == h
}

func (l *seenLately) put(h Hash, seen Seen) {
	if seen.ID == 0 || seen.Skipped {
		return
	}
	shard, slot := l.slot(h)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	*slot = latelySlot{h, seen.ID}
}
