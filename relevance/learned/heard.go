package learned

import (
	"hash/maphash"
	"math/bits"
	"sync"

	"fossick/page"
)

// saying is what a link says of its target by itself, whatever page it stands on.
type saying struct {
	anchor  float64 // log-odds of its text and URL, by the judge, above those of silence
	words   [maxLinkWords]token
	endings [maxEndings]token
	count   uint8 // of words
	ended   uint8 // of endings
}

// sayings remembers what links say: pages of a host have the same menu, and what is
// named once is named again by the same words. It forgets a link for another one that
// comes to the same slot. Safe for concurrent use.
type sayings struct {
	seed maphash.Seed

	mu    sync.Mutex // guards slots
	slots []heardSaying
}

type heardSaying struct {
	hash uint64 // of the link; 0 of an empty slot
	saying
}

// maxSayings is a power of two: 1.2 MiB.
const maxSayings = 1 << 14

func newSayings() sayings {
	return sayings{seed: maphash.MakeSeed(), slots: make([]heardSaying, maxSayings)}
}

// hash is that of all that a saying is made from, never 0.
func (s *sayings) hash(link *page.Link, lang string) uint64 {
	h := maphash.String(s.seed, link.URL)
	h = bits.RotateLeft64(h, 21) ^ maphash.String(s.seed, link.Anchor)
	return max(1, bits.RotateLeft64(h, 21)^maphash.String(s.seed, lang))
}

// find fills said with what is remembered of the links with these hashes, 0 for those
// that nobody asks for, and sets a hash to 0 where that was found.
func (s *sayings) find(said []saying, hashes []uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, h := range hashes {
		if slot := &s.slots[h%uint64(len(s.slots))]; h != 0 && slot.hash == h {
			said[i], hashes[i] = slot.saying, 0
		}
	}
}

// put remembers the sayings whose hash isn't 0.
func (s *sayings) put(said []saying, hashes []uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, h := range hashes {
		if h != 0 {
			s.slots[h%uint64(len(s.slots))] = heardSaying{h, said[i]}
		}
	}
}

// read finds out what a link says.
func (l *Scorer) read(r *wordReader, link *page.Link, lang string) saying {
	s := saying{anchor: l.above(l.readAnchor(r, link, lang))}
	s.count = uint8(r.link(s.words[:], lang, link))
	s.ended = uint8(len(endings(s.endings[:0], link.Anchor)))
	return s
}
