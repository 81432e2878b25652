package cluster

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"
	"time"
)

// disk is an agent's committed state.
type disk struct {
	known   map[int]bool // URL → fetched
	own     map[partition]uint64
	past    map[partition]uint64
	outbox  map[partition][]Parcel
	last    uint64
	cursors map[stream]uint64
	epoch   uint64
	pages   int64
	moves   uint64
}

func newDisk() *disk {
	return &disk{known: map[int]bool{}, own: map[partition]uint64{}, past: map[partition]uint64{}, outbox: map[partition][]Parcel{}, cursors: map[stream]uint64{}}
}

func (d *disk) clone() *disk {
	c := *d
	c.past = maps.Clone(d.past)
	c.known, c.own, c.outbox, c.cursors = maps.Clone(d.known), maps.Clone(d.own), maps.Clone(d.outbox), maps.Clone(d.cursors)
	return &c
}

func (d *disk) queue(p partition, b []byte) uint64 {
	d.last++
	d.outbox[p] = append(slices.Clip(d.outbox[p]), Parcel{Number: d.last, Bytes: b})
	return d.last
}

// simAgent is a store with a name, and its present process.
type simAgent struct {
	w             *world
	id            AgentID
	rate          float64 // of its clock
	off           time.Duration
	disk, replica *disk
	proc          *proc
	absent        bool // will come
	gone          bool // will never come again
	frozen        time.Duration
	cutIn, cutOut time.Duration
	brittle       float64 // chance of a crash at an event
}

// proc is one process of an agent: a node and a toy engine.
type proc struct {
	agent   *simAgent
	w       *world
	dead    bool
	node    *node
	own     map[partition]uint64
	rest    map[int]time.Duration // by host, by the agent's clock
	flying  map[int]int           // host → URL
	freeing map[partition]uint64
	acks    []takenEvent // waiting for the replica
	copying bool
	allowed int64
	price   float64
	ended   string
	ticking uint64
	takes   time.Duration // when the last delivery is committed
}

func (a *simAgent) clock() time.Duration { return a.off + time.Duration(float64(a.w.now)*a.rate) }

// boot starts a process from what was committed.
func (a *simAgent) boot() {
	if a.gone || a.proc != nil {
		return
	}
	a.absent = false
	d := a.disk
	r := recovered{Known: d.epoch, Held: maps.Clone(d.own), Past: maps.Clone(d.past), Cursors: maps.Clone(d.cursors), Outbox: map[partition]span{}}
	for p, parcels := range d.outbox {
		if len(parcels) > 0 {
			r.Outbox[p] = span{parcels[0].Number, parcels[len(parcels)-1].Number}
		}
	}
	w := a.w
	p := &proc{
		agent: a, w: w, own: map[partition]uint64{}, rest: map[int]time.Duration{}, flying: map[int]int{},
		freeing: map[partition]uint64{},
		node: newNode(Protocol{
			ID: a.id, Lease: simLease, Longest: simLongest, Resend: 500 * time.Millisecond, maxPages: w.maxPages,
			Prefers: a == w.agents[w.seed/3%3%uint64(len(w.agents))] && w.seed%5 > 0,
			Grace:   time.Duration(w.seed%3) * time.Second, Fresh: w.seed%2 == 0 && !w.wipes, parts: simParts, defect: w.defect,
		}, r),
	}
	a.proc = p
	w.note("%s starts", a.id)
	w.after(0, p, p.tick)
	w.after(0, p, p.crawl)
}

func (a *simAgent) stopped() {
	if a.proc == nil {
		return
	}
	a.proc.dead = true
	for h := range a.proc.flying { // open fetches are cut off
		if host := &a.w.hosts[h]; host.by == a.proc {
			host.until = min(host.until, a.w.now)
		}
	}
	a.proc = nil
}

func (a *simAgent) leave() {
	if p := a.proc; p != nil {
		a.w.note("%s leaves", a.id)
		a.w.after(0, p, func() { p.tell(leaveEvent{}) })
	}
}

func (p *proc) tick() {
	p.ticking++
	p.tell(tickEvent{p.report()})
}

// tell steps the node, carries out its effects, and plans the next tick.
func (p *proc) tell(ev event) {
	for _, e := range p.node.step(p.agent.clock(), ev) {
		if !p.dead && p.w.wrong == nil {
			p.do(e)
		}
	}
	p.ticking++
	turn := p.ticking
	wait := max(p.node.due(p.agent.clock())-p.agent.clock(), time.Millisecond)
	p.w.after(time.Duration(float64(wait)/p.agent.rate)+time.Microsecond, p, func() {
		if p.ticking == turn {
			p.tick()
		}
	})
}

func (p *proc) report() report {
	d := p.agent.disk
	r := report{
		Pages: d.pages, InFlight: int64(len(p.flying)), Moves: d.moves, Allowed: p.allowed, Workers: 3, Rate: 1,
		Epoch: p.agent.replica.epoch,
	}
	for _, parcels := range d.outbox {
		r.Outbox += int64(len(parcels))
	}
	for url, fetched := range d.known {
		if _, own := p.own[partOf(url)]; own && !fetched && p.flying[hostOf(url)] != url+1 {
			r.Waiting++
			r.Head = append(r.Head, priority(url))
		}
	}
	slices.SortFunc(r.Head, func(a, b float64) int { return -cmpFloat(a, b) })
	return r
}

func cmpFloat(a, b float64) int {
	if a < b {
		return -1
	} else if a > b {
		return 1
	}
	return 0
}

// priority returns priorities of both signs, as breadth-first has negative ones.
func priority(url int) float64 { return float64(url*37%101)/101 - 0.5 }

// obeys reports whether engines skip links below the price. In a quarter of the schedules all do,
// so a price above all links would block the crawl for ever. In the others, engines ignore it, as
// if they had not received it.
func (w *world) obeys() bool { return w.seed%8 >= 6 }

// crawl starts the possible fetches, and calls itself again soon.
func (p *proc) crawl() {
	w, d := p.w, p.agent.disk
	defer w.after(w.between(100*time.Millisecond, 400*time.Millisecond), p, p.crawl)
	if p.ended != "" {
		return
	}
	for _, url := range slices.Sorted(maps.Keys(d.known)) {
		h, part := hostOf(url), partOf(url)
		if d.known[url] || p.flying[h] != 0 || len(p.flying) >= 3 || p.agent.clock() < p.rest[h] {
			continue
		}
		epoch, owned := p.own[part]
		if e, ok := p.node.may(p.agent.clock(), part); !ok || !owned || e != epoch {
			continue
		}
		if d.pages+int64(len(p.flying)) >= p.allowed || priority(url) < p.price && (w.obeys() || w.chance(0.8)) {
			continue
		}
		long := w.between(10*time.Millisecond, 500*time.Millisecond)
		if w.chance(0.1) {
			long = w.between(0, simLongest)
		}
		p.flying[h] = url + 1
		d.moves++
		w.begin(p, url, long)
		w.after(long, p, func() { p.arrived(url) })
	}
}

// arrived commits a page with its links.
func (p *proc) arrived(url int) {
	w, d := p.w, p.agent.disk
	delete(p.flying, hostOf(url))
	p.rest[hostOf(url)] = p.agent.clock() + simDelay
	if d.known[url] {
		return
	}
	d.known[url] = true
	d.pages++
	d.moves++
	w.commit(p.agent, url)
	queued := map[partition]uint64{}
	for _, link := range w.links[url] {
		part := partOf(link)
		if _, own := p.own[part]; own && p.node.ours(part) {
			d.handle(link)
			continue
		}
		queued[part] = d.queue(part, binary.BigEndian.AppendUint32(nil, uint32(link)))
	}
	p.later()
	w.after(w.between(0, 20*time.Millisecond), p, func() {
		for _, part := range slices.Sorted(maps.Keys(queued)) {
			p.tell(queuedEvent{part, queued[part]})
		}
	})
	p.drained()
}

// later copies the disk to the replica after a delay, and then answers the waiting calls.
func (p *proc) later() {
	if p.copying {
		return
	}
	p.copying = true
	p.w.after(p.w.between(10*time.Millisecond, 800*time.Millisecond), p, func() {
		p.copying = false
		p.agent.replica = p.agent.disk.clone()
		acks := p.acks
		p.acks = nil
		for _, ack := range acks {
			p.tell(ack)
		}
		for _, part := range slices.Sorted(maps.Keys(p.freeing)) {
			if p.quiet(part) {
				epoch := p.freeing[part]
				delete(p.freeing, part)
				if p.own[part] == epoch {
					delete(p.own, part)
				}
				p.tell(releasedEvent{part, epoch})
			}
		}
	})
}

func (p *proc) quiet(part partition) bool {
	for _, url := range p.flying {
		if partOf(url-1) == part {
			return false
		}
	}
	return true
}

// drained makes another copy once a partition to be released has nothing in flight.
func (p *proc) drained() {
	for part := range p.freeing {
		if p.quiet(part) {
			p.later()
			return
		}
	}
}

// gain continues from another agent's state of a partition.
func (p *proc) gain(g holding) {
	w, d := p.w, p.agent.disk
	w.moved++
	p.own[g.Partition] = g.Epoch
	d.own[g.Partition], d.past[g.Partition] = g.Epoch, g.Epoch
	delete(p.freeing, g.Partition)
	wait := g.Wait
	if w.defect != noRest {
		wait += simDelay
	}
	for h := range simHosts {
		if partOf(h*simPerHost) == g.Partition {
			p.rest[h] = max(p.rest[h], p.agent.clock()+wait)
		}
	}
	for _, url := range w.seeds {
		if partOf(url) == g.Partition {
			d.handle(url)
		}
	}
	for _, from := range w.agents {
		if from.id == g.From && from != p.agent {
			p.inherit(from, g)
		}
	}
	d.moves++
	d.epoch = max(d.epoch, g.Epoch)
	w.note("%s owns %d, epoch %d, from %s, taken %v", p.agent.id, g.Partition, g.Epoch, g.From, g.Taken)
}

// lose sends on the waiting URLs of a lost partition.
func (p *proc) lose(part partition) {
	w, d := p.w, p.agent.disk
	w.note("%s loses %d", p.agent.id, part)
	delete(p.own, part)
	delete(d.own, part)
	delete(p.freeing, part)
	last := uint64(0)
	for _, url := range slices.Sorted(maps.Keys(d.known)) {
		if partOf(url) == part && !d.known[url] {
			last = d.queue(part, binary.BigEndian.AppendUint32(nil, uint32(url)))
		}
	}
	if last > 0 {
		d.moves++
		w.after(0, p, func() { p.tell(queuedEvent{part, last}) })
	}
}

func (p *proc) inherit(from *simAgent, g holding) {
	d, src := p.agent.disk, from.replica
	for url, fetched := range src.known {
		if partOf(url) == g.Partition {
			d.known[url] = d.known[url] || fetched
		}
	}
	if !g.Taken {
		return
	}
	p.w.takeovers++
	for _, part := range slices.Sorted(maps.Keys(src.outbox)) {
		for _, parcel := range src.outbox[part] {
			if !slices.ContainsFunc(d.outbox[part], func(had Parcel) bool { return bytes.Equal(had.Bytes, parcel.Bytes) }) {
				d.queue(part, parcel.Bytes)
			}
		}
		if len(src.outbox[part]) > 0 {
			number := d.last
			p.w.after(0, p, func() { p.tell(queuedEvent{part, number}) })
		}
	}
}

// handle records a URL, unless it is known.
func (d *disk) handle(url int) {
	if _, known := d.known[url]; !known {
		d.known[url] = false
	}
}
