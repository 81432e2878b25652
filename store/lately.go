package store

import (
	"encoding/binary"
	"sync"
)

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
