package store

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bits-and-blooms/bloom/v3"
	"github.com/dgraph-io/badger/v4"
)

// seenFilter is a Bloom filter before the seen-set, which is exact and on disk:
// most links lead to URLs that are known, but each new one would ask the disk
// twice for what it does not have. It is cut into shards by the URL's hash, with
// a lock each, so that workers do not wait for one another (paper D5).
type seenFilter struct {
	lately seenLately
	ready  atomic.Bool // the shards hold all that is on disk
	shards [seenShards]seenShard
}

// seenShard has filters of growing size: a new one is begun when the last is full,
// until the largest, which then takes all that comes.
type seenShard struct {
	mu      sync.RWMutex // guards what follows
	filters []*bloom.BloomFilter
	room    int // URLs that the last filter should still take
}

// 128 shards, as paper D5 has roots. The filters of all of them come to 28 MiB,
// whatever the number of URLs; a small crawl has the first, 128 KiB. With ten
// bits a URL under 3 % of new ones ask the disk in vain; that holds for 22 million
// URLs, at 100 million it is a half.
const (
	seenShards  = 128
	seenURLBits = 10
	seenHashes  = 6
)

// seenBits are the sizes of a shard's filters.
var seenBits = [...]uint{1 << 13, 1 << 15, 1 << 17, 1 << 19, 1 << 20}

func (f *seenFilter) add(h Hash) {
	s := &f.shards[h[0]%seenShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.filters); s.room <= 0 && n < len(seenBits) {
		s.filters = append(s.filters, bloom.New(seenBits[n], seenHashes))
		s.room = int(seenBits[n] / seenURLBits)
	}
	s.filters[len(s.filters)-1].Add(h[:])
	s.room--
}

// lacks says that h is certainly not in the seen-set.
func (f *seenFilter) lacks(h Hash) bool {
	if f == nil || !f.ready.Load() {
		return false
	}
	s := &f.shards[h[0]%seenShards]
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, filter := range slices.Backward(s.filters) { // the last has most
		if filter.Test(h[:]) {
			return false
		}
	}
	return true
}

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

// FilterSeen puts a Bloom filter before the seen-set, for a crawl that will look
// many URLs up. It returns at once; until all that is on disk was read, which
// goes on beside the crawl, look-ups ask the disk. Call it before the first
// Batch; a second call does nothing.
func (s *Store) FilterSeen() {
	if s.filter != nil {
		return
	}
	s.filter = &seenFilter{}
	s.kept.Go(func() {
		err := s.view(func(txn *badger.Txn) error {
			opt := badger.DefaultIteratorOptions
			opt.Prefix, opt.PrefetchValues = key(keySeen), false
			it := txn.NewIterator(opt)
			defer it.Close()
			for it.Rewind(); it.Valid(); it.Next() {
				if k := it.Item().Key(); len(k) == 1+len(Hash{}) {
					s.filter.add(Hash(k[1:]))
				}
				select {
				case <-s.stop:
					return ErrUnknown // the rest of it
				default:
				}
			}
			return nil
		})
		s.filter.ready.Store(err == nil) // with an error the disk goes on being asked, and tells it
	})
}
