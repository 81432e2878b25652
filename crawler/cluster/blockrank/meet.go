package blockrank

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// meeting is what other parts said before the first round, by kind and part.
type meeting map[kind][]*message

func newMeeting(parts int) meeting {
	m := meeting{}
	for _, k := range []kind{claims, owners, mentions, places, wants, leaves, copies} {
		m[k] = make([]*message, parts)
	}
	return m
}

// clerk is the part that says who owns a key. It needs to have nothing of it.
func clerk(key uint64, parts int) int { return int(key % uint64(parts)) }

// meetOthers finds out who owns each node, and agrees with the owners of nodes that ours
// lead to on the order in which masses are sent.
func (p *Part) meetOthers(ctx context.Context) error {
	sorted := make([]uint32, len(p.owner)) // nodes by key
	for v := range sorted {
		sorted[v] = uint32(v)
	}
	keys := p.links.Keys
	slices.SortFunc(sorted, func(a, b uint32) int { return cmp.Compare(keys[a], keys[b]) })
	for i := 1; i < len(sorted); i++ {
		if keys[sorted[i-1]] == keys[sorted[i]] {
			return fmt.Errorf("nodes %d and %d have the same key, %016x", sorted[i-1], sorted[i], keys[sorted[i]])
		}
	}
	if err := p.findOwners(ctx, sorted); err != nil {
		return err
	}
	if err := p.findSlots(ctx, sorted); err != nil {
		return err
	}
	if err := p.findCopies(ctx, sorted); err != nil {
		return err
	}
	p.meet = newMeeting(p.parts)
	return nil
}

// ask sends each other part a message and waits for those of all others.
func (p *Part) ask(ctx context.Context, k kind, of func(to int) message) error {
	for to := range p.parts {
		m := of(to)
		m.kind = k
		if to == p.me {
			p.meet[k][to] = &m
			continue
		}
		if err := p.line.send(ctx, to, m); err != nil {
			return err
		}
	}
	return p.wait(ctx, func() bool { return !slices.Contains(p.meet[k], nil) })
}

// nobody owns what no page that counts leads to.
const nobody = ^uint32(0)

// findOwners asks the clerks: first who owns our pages, then who owns what those that we
// own lead to. So links of a page's copies with others count nowhere.
func (p *Part) findOwners(ctx context.Context, sorted []uint32) error {
	for v := range p.owner {
		p.owner[v] = nobody
	}
	page := func(v uint32) bool { return p.links.Page[v] }
	of := func() [][]uint64 { return owning(p.meet[claims], p.parts) }
	if err := p.askClerks(ctx, claims, owners, sorted, page, of); err != nil {
		return err
	}
	led, err := p.led()
	if err != nil {
		return err
	}
	of = func() [][]uint64 {
		return owning(slices.Concat(p.meet[claims], p.meet[mentions]), p.parts)[p.parts:]
	}
	return p.askClerks(ctx, mentions, places, sorted, func(v uint32) bool { return led[v] }, of)
}

// led says which nodes of others our pages lead to.
func (p *Part) led() ([]bool, error) {
	led := make([]bool, len(p.owner))
	err := p.links.In.Scan(0, len(led), func(v uint32, from []uint32) error {
		led[v] = !p.ours(v) && slices.ContainsFunc(from, p.ours)
		return nil
	})
	return led, err
}

// askClerks asks for the owners of some nodes, and as a clerk answers the others by of.
func (p *Part) askClerks(ctx context.Context, ask, answer kind, sorted []uint32, in func(v uint32) bool, of func() [][]uint64) error {
	asked := make([][]uint32, p.parts) // nodes, by clerk
	for _, v := range sorted {
		if in(v) {
			to := clerk(p.links.Keys[v], p.parts)
			asked[to] = append(asked[to], v)
		}
	}
	err := p.ask(ctx, ask, func(to int) (m message) {
		for _, v := range asked[to] {
			m.keys = append(m.keys, p.links.Keys[v])
		}
		return m
	})
	if err != nil {
		return err
	}
	owner := of()
	if err := p.ask(ctx, answer, func(to int) message { return message{numbers: owner[to]} }); err != nil {
		return err
	}
	for from, m := range p.meet[answer] {
		if err := m.has(0, len(asked[from]), 0); err != nil {
			return err
		}
		for i, v := range asked[from] {
			if m.numbers[i] >= uint64(p.parts) {
				return fmt.Errorf("%w: owner %d of %d", ErrMessage, m.numbers[i], p.parts)
			}
			p.owner[v] = uint32(m.numbers[i])
		}
	}
	return nil
}

// owning gives each key that is asked for to the first who asks, and answers each in the
// order of its keys. Of twice as many lists as parts the first are claims of pages, the
// others mentions. By merging, as keys ascend.
func owning(asked []*message, parts int) (of [][]uint64) {
	of = make([][]uint64, len(asked))
	at := make([]int, len(asked))
	for i, m := range asked {
		of[i] = make([]uint64, len(m.keys))
	}
	for {
		first := -1
		for i, m := range asked {
			if at[i] < len(m.keys) && (first < 0 || m.keys[at[i]] < asked[first].keys[at[first]]) {
				first = i
			}
		}
		if first < 0 {
			return of
		}
		key := asked[first].keys[at[first]]
		for i, m := range asked {
			if at[i] < len(m.keys) && m.keys[at[i]] == key {
				of[i][at[i]] = uint64(first % parts)
				at[i]++
			}
		}
	}
}

// findSlots tells owners which of their nodes ours lead to, and hears which are leaves.
func (p *Part) findSlots(ctx context.Context, sorted []uint32) error {
	wanted, into, err := p.askOwners(ctx, wants, sorted, func(v uint32) bool { return true })
	if err != nil {
		return err
	}
	leaf := make([][]uint64, p.parts)
	for from, nodes := range into {
		for _, v := range nodes {
			leaf[from] = append(leaf[from], one(p.links.Degree[v] == 0))
		}
	}
	if err := p.ask(ctx, leaves, func(to int) message { return message{numbers: leaf[to]} }); err != nil {
		return err
	}
	for q, m := range p.meet[leaves] {
		if err := m.has(0, len(wanted[q]), 0); err != nil {
			return err
		}
		p.out[q], p.into[q] = order(wanted[q], m.numbers), order(into[q], leaf[q])
	}
	return nil
}

// findCopies tells owners which of their pages are here too: their scores are asked for, and
// given when all is done.
func (p *Part) findCopies(ctx context.Context, sorted []uint32) (err error) {
	p.copies, p.lent, err = p.askOwners(ctx, copies, sorted, func(v uint32) bool { return p.links.Page[v] })
	return err
}

// askOwners names to each owner nodes of its that are here. It returns them, and those of
// ours that others name, by part and in the order of keys.
func (p *Part) askOwners(ctx context.Context, k kind, sorted []uint32, in func(v uint32) bool) (theirs, ours [][]uint32, err error) {
	theirs, ours = make([][]uint32, p.parts), make([][]uint32, p.parts)
	for _, v := range sorted {
		if o := p.owner[v]; o != nobody && o != uint32(p.me) && in(v) {
			theirs[o] = append(theirs[o], v)
		}
	}
	err = p.ask(ctx, k, func(to int) (m message) {
		for _, v := range theirs[to] {
			m.keys = append(m.keys, p.links.Keys[v])
		}
		return m
	})
	if err != nil {
		return nil, nil, err
	}
	for from, m := range p.meet[k] {
		at := 0
		for _, key := range m.keys {
			for at < len(sorted) && p.links.Keys[sorted[at]] < key {
				at++
			}
			if at == len(sorted) || p.links.Keys[sorted[at]] != key || !p.ours(sorted[at]) {
				return nil, nil, fmt.Errorf("%w: part %d names %016x, which belongs to another part", ErrMessage, from, key)
			}
			ours[from] = append(ours[from], sorted[at])
		}
	}
	return theirs, ours, nil
}

// order puts leaves last.
func order(nodes []uint32, leaf []uint64) (s slots) {
	for want := range uint64(2) {
		for i, v := range nodes {
			if min(leaf[i], 1) == want {
				s.nodes = append(s.nodes, v)
			}
		}
		if want == 0 {
			s.core = len(s.nodes)
		}
	}
	return s
}

func one(is bool) uint64 {
	if is {
		return 1
	}
	return 0
}
