package graph

import (
	"iter"
	"math/bits"
	"strconv"
)

// paged maps numbers to nodes, in memory for the ranges that occur.
type paged struct{ pages map[uint32]*[pageLen]uint32 }

const pageLen = 1 << 12

// set says whether the number was free.
func (p *paged) set(id, v uint32) bool {
	if p.pages == nil {
		p.pages = map[uint32]*[pageLen]uint32{}
	}
	page := p.pages[id/pageLen]
	if page == nil {
		page = new([pageLen]uint32)
		p.pages[id/pageLen] = page
	}
	free := page[id%pageLen] == 0
	page[id%pageLen] = v + 1 // 0 is for none
	return free
}

func (p *paged) get(id uint32) (uint32, bool) {
	page := p.pages[id/pageLen]
	if page == nil || page[id%pageLen] == 0 {
		return 0, false
	}
	return page[id%pageLen] - 1, true
}

// each calls do with all pairs, in no order.
func (p *paged) each(do func(id, v uint32)) {
	for at, page := range p.pages {
		for i, v := range page {
			if v > 0 {
				do(at*pageLen+uint32(i), v-1)
			}
		}
	}
}

// idSet is a set of numbers, in memory for the ranges that occur.
type idSet struct {
	words [][]uint64 // ranges of idRange numbers; nil when none occurs
}

const idRange = 1 << 16

func (s *idSet) add(id uint32) {
	at := int(id / idRange)
	for at >= len(s.words) {
		s.words = append(s.words, nil)
	}
	if s.words[at] == nil {
		s.words[at] = make([]uint64, idRange/64)
	}
	s.words[at][id%idRange/64] |= 1 << (id % 64)
}

func (s *idSet) each(yield func(id uint32) bool) {
	for at, words := range s.words {
		for i, w := range words {
			for ; w != 0; w &= w - 1 {
				if !yield(uint32(at*idRange + i*64 + bits.TrailingZeros64(w))) {
					return
				}
			}
		}
	}
}

func (s *idSet) count() (n int) {
	for _, words := range s.words {
		for _, w := range words {
			n += bits.OnesCount64(w)
		}
	}
	return n
}

// end returns one more than the largest number, 0 of none.
func (s *idSet) end() uint64 {
	for at := len(s.words) - 1; at >= 0; at-- {
		for i := len(s.words[at]) - 1; i >= 0; i-- {
			if w := s.words[at][i]; w != 0 {
				return uint64(at*idRange+i*64) + uint64(bits.Len64(w))
			}
		}
	}
	return 0
}

// ranks returns a function that says how many numbers of the set are smaller.
func (s *idSet) ranks() func(uint32) uint32 {
	before := make([][]uint32, len(s.words)) // of each word
	n := uint32(0)
	for at, words := range s.words {
		before[at] = make([]uint32, len(words))
		for i, w := range words {
			before[at][i] = n
			n += uint32(bits.OnesCount64(w))
		}
	}
	return func(id uint32) uint32 {
		at, i := id/idRange, id%idRange/64
		return before[at][i] + uint32(bits.OnesCount64(s.words[at][i]&(1<<(id%64)-1)))
	}
}

// keys yields the key of each number.
func (s *idSet) keys() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var name, key []byte
		s.each(func(id uint32) bool {
			name = strconv.AppendUint(name[:0], uint64(id), 10)
			key = appendKey(key[:0], name)
			return yield(key, nil)
		})
	}
}
