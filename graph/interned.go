package graph

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
)

// interned keeps names one after the other in chunks without pointers, and
// numbers them in the order in which they come. find gives a name's number by a
// hash table of 8 bytes a slot. It costs a third of what a map of strings does,
// and nothing of it is looked at by the garbage collector. Not safe for
// concurrent use.
type interned struct {
	chunks [][]byte
	at     []uint64 // of each name: chunk, then offset in the lower 32 bits; its length stands there

	seed  maphash.Seed // of all that find is called for
	slots []uint64     // upper half of the hash, then number + 1 in the lower 32 bits; 0 is free
}

const chunkBytes = 1 << 20

func (t *interned) len() int { return len(t.at) }

// name returns the name with a number. It must not be changed.
func (t *interned) name(i uint32) []byte {
	at := t.at[i]
	c := t.chunks[at>>32][uint32(at):]
	n := binary.LittleEndian.Uint32(c)
	return c[4 : 4+n : 4+n]
}

// add appends a name, which may have been added before, and returns its number.
func (t *interned) add(name []byte) uint32 {
	last := len(t.chunks) - 1
	if last < 0 || cap(t.chunks[last])-len(t.chunks[last]) < 4+len(name) {
		t.chunks = append(t.chunks, make([]byte, 0, max(chunkBytes, 4+len(name))))
		last++
	}
	c := t.chunks[last]
	t.at = append(t.at, uint64(last)<<32|uint64(len(c)))
	c = binary.LittleEndian.AppendUint32(c, uint32(len(name)))
	t.chunks[last] = append(c, name...)
	return uint32(len(t.at) - 1)
}

// find returns the number of a name that find or its caller added before; else it
// adds it, and says so.
func (t *interned) find(name []byte) (i uint32, fresh bool) {
	return t.findHashed(name, maphash.Bytes(t.seed, name))
}

// findHashed is find of a name whose hash is known.
func (t *interned) findHashed(name []byte, hash uint64) (i uint32, fresh bool) {
	if 4*len(t.at) >= 3*len(t.slots) {
		t.grow()
	}
	mask := uint64(len(t.slots) - 1)
	for s := hash & mask; ; s = (s + 1) & mask {
		slot := t.slots[s]
		if slot == 0 {
			i = t.add(name)
			t.slots[s] = hash>>32<<32 | uint64(i) + 1
			return i, true
		}
		if slot>>32 == hash>>32 {
			if i = uint32(slot) - 1; bytes.Equal(t.name(i), name) {
				return i, false
			}
		}
	}
}

// grow doubles the table.
func (t *interned) grow() {
	t.slots = make([]uint64, max(1<<10, 2*len(t.slots)))
	mask := uint64(len(t.slots) - 1)
	for i := range t.at {
		hash := maphash.Bytes(t.seed, t.name(uint32(i)))
		s := hash & mask
		for t.slots[s] != 0 {
			s = (s + 1) & mask
		}
		t.slots[s] = hash>>32<<32 | uint64(i) + 1
	}
}
