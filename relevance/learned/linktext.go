package learned

import (
	"hash/maphash"
	"math/bits"
	"sync"

	"fossick/page"
)

// linkText is what a link says of its target by itself, whatever page it stands on.
type linkText struct {
	anchor  float64 // log-odds of its text and URL, by the judge, above those of silence
	words   [maxLinkWords]token
	endings [maxEndings]token
	count   uint8 // of words
	ended   uint8 // of endings
}

// linkTexts remembers what links say: pages of a host have the same menu, and what is
// named once is named again by the same words. It forgets a link for another one that
// comes to the same slot. Safe for concurrent use.
type linkTexts struct {
	seed maphash.Seed

	mu    sync.Mutex // guards slots
	slots []cachedText
}

type cachedText struct {
	hash uint64 // of the link; 0 of an empty slot
	linkText
}

// maxLinkTexts is a power of two: 1.2 MiB.
const maxLinkTexts = 1 << 14

func newLinkTexts() linkTexts {
	return linkTexts{seed: maphash.MakeSeed(), slots: make([]cachedText, maxLinkTexts)}
}

// hash is that of all that a text is made from, never 0.
func (s *linkTexts) hash(link *page.Link, lang string) uint64 {
	h := maphash.String(s.seed, link.URL)
	h = bits.RotateLeft64(h, 21) ^ maphash.String(s.seed, link.Anchor)
	return max(1, bits.RotateLeft64(h, 21)^maphash.String(s.seed, lang))
}

// find fills texts with what is remembered of the links with these hashes, 0 for those
// that nobody asks for, and sets a hash to 0 where that was found.
func (s *linkTexts) find(texts []linkText, hashes []uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, h := range hashes {
		if slot := &s.slots[h%uint64(len(s.slots))]; h != 0 && slot.hash == h {
			texts[i], hashes[i] = slot.linkText, 0
		}
	}
}

// put remembers the texts whose hash isn't 0.
func (s *linkTexts) put(texts []linkText, hashes []uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, h := range hashes {
		if h != 0 {
			s.slots[h%uint64(len(s.slots))] = cachedText{h, texts[i]}
		}
	}
}
