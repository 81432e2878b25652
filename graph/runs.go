package graph

import (
	"encoding/binary"
)

// None is the host and the site of a node whose name is no URL.
const None = 1<<32 - 1

// Runs says which host, or which site, nodes belong to: nodes that follow each
// other and belong together are a run. In a file a run is its first node and its
// number, 32 bits each; the first run begins with node 0.
type Runs struct {
	raw []byte
	n   int // different numbers, None not counted
}

// appendRun adds that the nodes from v on belong to a number.
func appendRun(raw []byte, v, number uint32) []byte {
	if n := len(raw); n > 0 && binary.LittleEndian.Uint32(raw[n-4:]) == number {
		return raw
	}
	raw = binary.LittleEndian.AppendUint32(raw, v)
	return binary.LittleEndian.AppendUint32(raw, number)
}

// openRuns checks a section of runs.
func openRuns(raw []byte, nodes, n uint64) (Runs, bool) {
	if len(raw)%8 != 0 || n > uint64(len(raw)/8) {
		return Runs{}, false
	}
	r := Runs{raw, int(n)}
	for i := range r.len() {
		first, number := r.run(i)
		before := uint32(0)
		if i > 0 {
			before, _ = r.run(i - 1)
		}
		if i == 0 && first != 0 || i > 0 && first <= before || uint64(first) >= nodes ||
			number != None && uint64(number) >= n {
			return Runs{}, false
		}
	}
	return r, true
}

// Count returns how many hosts, or sites, there are.
func (r Runs) Count() int { return r.n }

// len returns the number of runs; 0 when nothing is known of any node.
func (r Runs) len() int { return len(r.raw) / 8 }

// run returns the first node of the i-th run and to what its nodes belong.
func (r Runs) run(i int) (first, number uint32) {
	return binary.LittleEndian.Uint32(r.raw[8*i:]), binary.LittleEndian.Uint32(r.raw[8*i+4:])
}

// Array returns the number of each node, in 4 bytes a node.
func (r Runs) Array(nodes int) []uint32 {
	all := make([]uint32, nodes)
	number, next := uint32(None), 0
	for v := range all {
		for next < r.len() {
			first, n := r.run(next)
			if int(first) > v {
				break
			}
			number = n
			next++
		}
		all[v] = number
	}
	return all
}
