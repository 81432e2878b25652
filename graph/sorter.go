package graph

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"slices"

	"fossick/internal/extsort"
)

// newSorter returns what sorts more edges than memory has room for. An edge is a key,
// source << 32 | target; equal ones are dropped and counted. In a run they are gaps.
func newSorter(dir string, memory int) *extsort.Sorter[uint64] {
	return extsort.New(extsort.Options[uint64]{
		Dir: dir, Limit: max(1024, memory/16), Unique: true, Compare: cmp.Compare[uint64],
		Sort:   slices.Sort[[]uint64],
		Append: func(dst []byte, before, key uint64) []byte { return binary.AppendUvarint(dst, key-before) },
		Read: func(r *bufio.Reader, before uint64) (uint64, error) {
			gap, err := binary.ReadUvarint(r)
			return before + gap, err
		},
	})
}
