package survey

// parties says in whose party each URL is: that of the seed from which links and redirects
// led to it.
type parties struct {
	of     []uint32          // by a URL's number: its seed, from 1; 0 where none is known
	byHost map[string]uint32 // of the first URL of a host, for what a sitemap named
	late   []member          // that wait for the party of who led to them
}

// member is what a URL adds to its party.
type member struct {
	id, from     uint64
	gave         bool // a page
	depth        int
	began, ended int64 // its exchanges, Unix milliseconds; 0 without one
}

func (p *parties) put(id uint64, seed uint32) {
	for uint64(len(p.of)) <= id {
		p.of = append(p.of, 0)
	}
	p.of[id] = seed
}

// get returns the party of a URL, 0 where none is known.
func (p *parties) get(id uint64) uint32 {
	if id >= uint64(len(p.of)) {
		return 0
	}
	return p.of[id]
}

// place finds the party of a URL of a host that is no seed; 0 where that is not known yet.
func (p *parties) place(m member, host string) uint32 {
	seed := p.get(m.from)
	if m.from == 0 {
		seed = p.byHost[host]
	}
	if seed == 0 {
		p.late = append(p.late, m)
		return 0
	}
	p.enter(m.id, seed, host)
	return seed
}

// enter has a URL of a host in the party of a seed.
func (p *parties) enter(id uint64, seed uint32, host string) {
	p.put(id, seed)
	if p.byHost[host] == 0 {
		p.byHost[host] = seed
	}
}

// settle finds the parties of those that waited: who led to them was discovered later.
func (p *parties) settle(tell func(seed uint32, m member)) {
	for left := -1; len(p.late) != left; {
		left = len(p.late)
		waiting := p.late[:0]
		for _, m := range p.late {
			seed := p.get(m.from)
			if seed == 0 {
				waiting = append(waiting, m)
				continue
			}
			p.put(m.id, seed)
			tell(seed, m)
		}
		p.late = waiting
	}
}
