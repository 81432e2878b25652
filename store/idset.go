package store

// idSet is a set of URLs' numbers, a bit each where they are many.
type idSet map[uint64]uint64

func (s idSet) add(id ID) { s[uint64(id)/64] |= 1 << (id % 64) }

func (s idSet) has(id ID) bool { return s[uint64(id)/64]&(1<<(id%64)) != 0 }
