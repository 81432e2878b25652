package main

import (
	"iter"

	"fossick/eval/webstats"
	"fossick/store"
)

// storeSource hands a store's records to webstats.
type storeSource struct{ s *store.Store }

// URLs yields all URLs with their exchanges.
func (f *storeSource) URLs() iter.Seq2[*webstats.URL, error] {
	return func(yield func(*webstats.URL, error) bool) {
		var u webstats.URL
		for k, err := range f.s.URLs().Known() {
			if err != nil {
				yield(nil, err)
				return
			}
			u = webstats.URL{
				ID: uint64(k.ID), From: uint64(k.From), URL: k.URL, Seed: k.Via == store.ViaSeed, Linked: k.Via == store.ViaLink, Depth: k.Depth,
				Exchanges: u.Exchanges[:0], Times: u.Times[:0], Headers: u.Headers[:0],
			}
			if k.Fate != nil {
				u.State, u.Near = k.Fate.State, k.Fate.Resemblance > 0
			}
			for i := range k.Visits {
				v := &k.Visits[i]
				u.Exchanges = append(u.Exchanges, webstats.Exchange{State: v.State, Code: v.Code, Millis: v.Millis})
				u.Times = append(u.Times, v.Start)
			}
			for i := range k.Wires {
				u.Headers = append(u.Headers, webstats.Header{Protocol: k.Wires[i].Protocol, Response: k.Wires[i].Response})
			}
			if !yield(&u, nil) {
				return
			}
		}
	}
}

// Pages yields the stored pages that have content.
func (f *storeSource) Pages() iter.Seq2[*webstats.Page, error] {
	topic := f.s.Info().Topic
	return func(yield func(*webstats.Page, error) bool) {
		var p webstats.Page
		for l, err := range f.s.Listed() {
			if err != nil {
				yield(nil, err)
				return
			}
			if l.Withdrawn {
				continue
			}
			p = webstats.Page{
				ID: uint64(l.ID), URL: l.URL, ContentType: l.ContentType, Charset: l.Charset, Lang: l.Lang, Label: labelOf(l, topic),
				Bytes: l.Bytes, Packed: l.Packed, Links: p.Links[:0], Kinds: l.LinkKinds, Unseen: l.Unseen - 1,
			}
			for _, id := range l.Links {
				p.Links = append(p.Links, uint64(id))
			}
			if !yield(&p, nil) {
				return
			}
		}
	}
}

// labelOf is what refine says of a page, else the crawl's model, else the topic where it is
// on topic by keywords.
func labelOf(l *store.Listed, topic string) string {
	switch {
	case l.Refined != nil:
		return l.Refined.Label
	case l.Label == "" && l.Relevant:
		return topic
	}
	return l.Label
}

// Hosts yields the hosts that were asked, by name.
func (f *storeSource) Hosts() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for h, err := range f.s.Hosts() {
			if err != nil {
				yield("", err)
				return
			}
			if h.Requests > 0 && !yield(h.Name, nil) {
				return
			}
		}
	}
}
