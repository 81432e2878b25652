package cluster

import (
	"encoding/binary"
	"maps"
	"slices"
	"time"
)

// do carries out an effect, as Member does.
func (p *proc) do(e effect) {
	w, d := p.w, p.agent.disk
	switch e := e.(type) {
	case sendMessage:
		w.send(p.agent, e)
	case swapValue:
		p.swap(e)
	case askValues:
		p.ask(e.keys)
	case ownChanged:
		for _, part := range e.lost {
			p.lose(part)
		}
		for _, part := range e.passed {
			delete(d.own, part)
		}
		for _, g := range e.gained {
			p.gain(g)
		}
		p.later()
	case releasePartition:
		w.note("%s releases %d", p.agent.id, e.partition)
		p.freeing[e.partition] = e.epoch
		p.drained()
	case readOutbox:
		w.after(w.between(0, 10*time.Millisecond), p, func() {
			var parcels []Parcel
			for _, parcel := range p.agent.disk.outbox[e.partition] {
				if parcel.Number > e.after && len(parcels) < 3 {
					parcels = append(parcels, parcel)
				}
			}
			p.tell(outgoingEvent{e.partition, e.after, parcels})
		})
	case takeParcels:
		p.takes = max(p.takes, w.now+w.between(0, 100*time.Millisecond)) // in order
		w.after(p.takes-w.now, p, func() { p.take(e.delivery) })
	case trimOutbox:
		w.note("%s trims %d up to %d", p.agent.id, e.partition, e.upto)
		d.outbox[e.partition] = slices.DeleteFunc(slices.Clone(d.outbox[e.partition]), func(parcel Parcel) bool { return parcel.Number <= e.upto })
	case allowPages:
		w.note("%s may have %d pages, price %.2f", p.agent.id, e.pages, e.price)
		p.allowed, p.price = e.pages, e.price
	case endCrawl:
		w.note("%s: the crawl has ended, %s", p.agent.id, e.why)
		p.ended = e.why
	case left:
		w.note("%s has left", p.agent.id)
		p.agent.gone = true
		p.agent.stopped()
	case stop:
		w.fail("%s stops: %v", p.agent.id, e.reason)
	}
}

// take commits a delivery, unless the partition is gone.
func (p *proc) take(dl delivery) {
	d := p.agent.disk
	if p.own[dl.Partition] != dl.Epoch && p.w.defect != noEpoch {
		p.tell(takenEvent{dl, false})
		return
	}
	for _, parcel := range dl.Parcels {
		url := int(binary.BigEndian.Uint32(parcel.Bytes))
		d.handle(url)
	}
	w := p.w
	w.note("%s takes %v", p.agent.id, dl)
	key := stream{dl.From, dl.Partition}
	d.cursors[key] = max(d.cursors[key], dl.Last)
	d.moves++
	p.acks = append(p.acks, takenEvent{dl, true})
	p.later()
}

func (w *world) delay() time.Duration {
	if w.slow && w.now < simCalm && w.chance(0.03) {
		return w.between(0, 8*time.Second)
	}
	return w.between(time.Millisecond, 50*time.Millisecond)
}

func (w *world) lost() bool { return w.now < simCalm && w.chance(w.lossy) }

// send carries a message: perhaps twice, late, or not at all.
func (w *world) send(from *simAgent, m sendMessage) {
	copies := 1
	if w.now < simCalm && w.chance(0.05) {
		copies = 2
	}
	for range copies {
		if from.cutOut > w.now || w.lost() {
			continue
		}
		w.after(w.delay(), nil, func() {
			for _, a := range w.agents {
				if p := a.proc; a.id == m.to && p != nil && a.cutIn <= w.now {
					w.after(0, p, func() { p.tell(messageEvent{slices.Clone(m.bytes)}) })
				}
			}
		})
	}
}

// swap writes a value. The answer may be lost; after a time the result counts as unknown.
func (p *proc) swap(e swapValue) {
	w, a := p.w, p.agent
	answered := false
	answer := func(revision uint64) {
		if !answered {
			answered = true
			p.tell(swapEvent{e.key, revision})
		}
	}
	w.after(simLease, p, func() { answer(0) })
	if a.cutOut > w.now || w.lost() {
		return
	}
	w.after(w.delay(), nil, func() {
		revision := uint64(0)
		if w.values[e.key].Revision == e.revision {
			w.rev++
			revision = w.rev
			w.values[e.key] = Value{e.value, revision}
			w.written(a, e)
		}
		if a.cutIn <= w.now && !w.lost() {
			w.after(w.delay(), p, func() { answer(revision) })
		}
	})
}

// written checks a written value.
func (w *world) written(a *simAgent, e swapValue) {
	switch {
	case e.key == tableKey:
		t, err := decodeTable(e.value)
		if err != nil {
			w.fail("a table that cannot be read: %v", err)
			return
		}
		for p, e := range t.entries {
			w.taken[p] = w.taken[p] || e.taken
		}
		w.note("%s writes table %d of term %d: %v", a.id, t.version, t.term, t.entries)
	case !w.trace:
	case e.key == budgetKey:
		b, _ := decodeBudget(e.value)
		w.note("%s writes budget %v", a.id, b)
	default:
		h, _ := decodeHeartbeat(e.value)
		w.note("%s writes %s: %+v", a.id, e.key, h)
	}
}

func (p *proc) ask(keys []string) {
	w, a := p.w, p.agent
	answered := false
	answer := func(values map[string]Value) {
		if !answered {
			answered = true
			p.tell(valuesEvent{values})
		}
	}
	w.after(simLease, p, func() { answer(nil) })
	if a.cutOut > w.now || w.lost() {
		return
	}
	w.after(w.delay(), nil, func() {
		values := maps.Clone(w.values)
		if keys != nil {
			maps.DeleteFunc(values, func(key string, _ Value) bool { return !slices.Contains(keys, key) })
		}
		if a.cutIn <= w.now && !w.lost() {
			w.after(w.delay(), p, func() { answer(values) })
		}
	})
}
