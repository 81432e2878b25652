package graph

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// headed is a key's place with the 8 bytes of it that are compared now.
type headed struct {
	head  uint64
	place uint32
	short bool // the key ends within the head
}

// sortNames returns the keys of names and their places in order.
func sortNames(names *interned) (keys [][]byte, order []uint32) {
	keys = make([][]byte, names.len())
	var all []byte
	for i := range keys {
		name := names.name(uint32(i))
		if cap(all)-len(all) < 2*len(name)+32 {
			all = make([]byte, 0, max(1<<20, 4*len(name)))
		}
		at := len(all)
		all = appendKey(all, name)
		keys[i] = all[at:len(all):len(all)]
	}
	return keys, sortKeys(keys)
}

// sortKeys returns the places of keys in their order; equal ones in the order
// of places. Keys of URLs begin alike, host by host, so that comparing them
// whole looks at the same bytes again and again. Here they are sorted by 8
// bytes at a time, and those that are equal till then by the next 8.
func sortKeys(keys [][]byte) []uint32 {
	all := make([]headed, len(keys))
	for i := range all {
		all[i].place = uint32(i)
	}
	sortFrom(all, keys, 0)
	order := make([]uint32, len(keys))
	for i := range all {
		order[i] = all[i].place
	}
	return order
}

// sortFrom sorts keys that have their first depth bytes in common.
func sortFrom(all []headed, keys [][]byte, depth int) {
	for len(all) > 1 {
		for i := range all {
			all[i].head, all[i].short = headOf(keys[all[i].place], depth)
		}
		if !slices.ContainsFunc(all, func(h headed) bool { return h.head != all[0].head || h.short }) {
			depth += 8 // all go on alike
			continue
		}
		slices.SortFunc(all, func(a, b headed) int {
			if a.head != b.head {
				return cmp.Compare(a.head, b.head)
			}
			// The same bytes, or zeros in place of what is missing.
			if a.short || b.short {
				if c := cmp.Compare(len(keys[a.place]), len(keys[b.place])); c != 0 {
					return c
				}
			}
			return cmp.Compare(a.place, b.place)
		})
		for from := 0; from < len(all); {
			to := from + 1
			for to < len(all) && all[to].head == all[from].head {
				to++
			}
			for from < to && all[from].short { // these come first, and are sorted
				from++
			}
			sortFrom(all[from:to], keys, depth+8)
			from = to
		}
		return
	}
}

// headOf returns the 8 bytes from depth on, with zeros for those beyond the end, and
// whether the key has fewer.
func headOf(key []byte, depth int) (head uint64, short bool) {
	if key = key[min(depth, len(key)):]; len(key) >= 8 {
		return binary.BigEndian.Uint64(key), false
	}
	for i := range key {
		head |= uint64(key[i]) << (56 - 8*i)
	}
	return head, true
}
