package store

import (
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
