package journal

import "fossick/store"

// places remembers the URLs that were queued last, so that a small crawl never asks the
// disk for them: one slot for each remainder of the URL's number.
type places []placed

type placed struct {
	id store.ID
	store.Queued
}

const placesInMemory = 1 << 16

func (p places) slot(id store.ID) *placed { return &p[uint64(id)%uint64(len(p))] }

func (p places) put(id store.ID, q store.Queued) { *p.slot(id) = placed{id, q} }

func (p places) get(id store.ID) (store.Queued, bool) {
	slot := p.slot(id)
	return slot.Queued, id != 0 && slot.id == id
}

func (p places) drop(id store.ID) {
	if slot := p.slot(id); slot.id == id {
		*slot = placed{}
	}
}
