package frontier

// bits is a set of URLs by number: a bit each, in pages made as the numbers
// grow. The zero value is empty.
type bits struct{ pages []*[bitsPage]uint64 }

const bitsPage = 1024 // words: 65,536 URLs, 8 KiB

func (b *bits) has(id ID) bool {
	page, word, mask := place(id)
	return page < len(b.pages) && b.pages[page] != nil && b.pages[page][word]&mask != 0
}

// add returns false when id was in the set already.
func (b *bits) add(id ID) bool {
	page, word, mask := place(id)
	for page >= len(b.pages) {
		b.pages = append(b.pages, nil)
	}
	if b.pages[page] == nil {
		b.pages[page] = new([bitsPage]uint64)
	}
	p := &b.pages[page][word]
	if *p&mask != 0 {
		return false
	}
	*p |= mask
	return true
}

func (b *bits) remove(id ID) {
	if page, word, mask := place(id); page < len(b.pages) && b.pages[page] != nil {
		b.pages[page][word] &^= mask
	}
}

func place(id ID) (page, word int, mask uint64) {
	return int(id / (64 * bitsPage)), int(id / 64 % bitsPage), 1 << (id % 64)
}
