package eval

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"fossick/internal/extsort"
)

// exchange is what the politeness report needs of one exchange, in the order in
// which it is sorted: party by party, in the order of time.
type exchange struct {
	Party, Start int64  // Start in Unix milliseconds
	Host         uint64 // see hashOf
	Rest         int64  // milliseconds that were due afterwards: up to a year
	Own          int64  // of these, what bound the host and not its party
	RetryAfter   int64  // milliseconds
	Took         uint32 // milliseconds
	Code         uint16
	Kind         kindOfExchange
	Before       uint8 // 1 when the host was not yet where the party is
}

type kindOfExchange uint8

const (
	kindPage kindOfExchange = iota
	kindRobots
	kindSitemap
	kindTDMRep
	kindLookup // that failed: nothing was sent
)

// byTime orders by party and time. The journal knows milliseconds. Of two exchanges in
// the same one that took as long, the first is that after which less rest was due.
func byTime(a, b exchange) int {
	return cmp.Or(cmp.Compare(a.Party, b.Party), cmp.Compare(a.Start, b.Start), cmp.Compare(a.Took, b.Took),
		cmp.Compare(a.Rest, b.Rest), cmp.Compare(a.Own, b.Own), cmp.Compare(a.Host, b.Host))
}

// exchangesInMemory is how many exchanges are sorted in memory: 10 MiB.
const exchangesInMemory = 1 << 18

// newSorter sorts any number of exchanges, so many of them in memory.
func newSorter(inMemory int) *extsort.Sorter[exchange] {
	return extsort.New(extsort.Options[exchange]{
		Limit: inMemory, Compare: byTime,
		Append: func(dst []byte, _, x exchange) []byte {
			dst, _ = binary.Append(dst, binary.BigEndian, x) // it has a fixed size
			return dst
		},
		Read: func(r *bufio.Reader, _ exchange) (x exchange, err error) {
			return x, binary.Read(r, binary.BigEndian, &x)
		},
	})
}
