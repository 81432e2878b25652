package store

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bits-and-blooms/bloom/v3"
)

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
