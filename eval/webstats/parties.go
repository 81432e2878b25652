package webstats

// parties counts the pages of each start page's party: those that were downloaded of what
// links and redirects led to from it (paper E, E1). It takes five bytes a URL of one source.
type parties struct {
	led   []uint32         // by a URL's ID: that of the URL that led to it, its own of a start page; 0 where none did
	got   []bool           // likewise: whether it was downloaded
	seeds map[uint32]int64 // pages, by the ID of the start page
	sizes spread           // of the parties
}

func (p *parties) add(u *URL, downloaded bool) {
	for uint64(len(p.led)) <= u.ID {
		p.led, p.got = append(p.led, 0), append(p.got, false)
	}
	p.led[u.ID], p.got[u.ID] = uint32(u.From), downloaded
	if u.Seed {
		if p.seeds == nil {
			p.seeds = map[uint32]int64{}
		}
		p.led[u.ID], p.seeds[uint32(u.ID)] = uint32(u.ID), 0
	}
}

// settle counts the pages at the end of a source: a URL may have been discovered before the
// one that led to it.
func (p *parties) settle() {
	for id, got := range p.got {
		if !got {
			continue
		}
		if seed := p.seedOf(uint32(id)); seed != 0 {
			p.seeds[seed]++
		}
	}
	for _, pages := range p.seeds {
		p.sizes.add(pages)
	}
	p.led, p.got, p.seeds = nil, nil, nil
}

// seedOf goes from a URL to its start page, and halves the way for those that follow. It is
// 0 where no start page led there.
func (p *parties) seedOf(id uint32) uint32 {
	for uint64(id) < uint64(len(p.led)) && p.led[id] != id {
		from := p.led[id]
		if uint64(from) >= uint64(len(p.led)) {
			return 0
		}
		p.led[id] = p.led[from]
		id = p.led[id]
	}
	if _, seed := p.seeds[id]; !seed {
		return 0
	}
	return id
}
