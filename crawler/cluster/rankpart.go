package cluster

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// RankPart is one agent's part in a ranking. It solves for y of the nodes that it owns; y is the
// PageRank up to a factor (graph/rank, gaussseidel.go):
//
//	y(p) = 1/N + d · Σ_{q→p} y(q)/C(q)
//
// The core (nodes with links) is swept in each round, leaves (nodes without) only in the last. It
// takes about 37 bytes a node, and one goroutine may use it.
type RankPart struct {
	me, parts   int
	links       RankLinks
	peer        *peer
	inbox       [][]rankMessage  // by sender: messages received and not yet read
	sent        uint64           // bytes
	coordinator *rankCoordinator // nil but in part 0
	damping     float64

	owner  []uint32   // by node: the part that owns it
	out    []slots    // by part: its nodes that our nodes link to
	into   []slots    // by part: our nodes that its nodes link to
	copies [][]uint32 // by part: its pages that are also here, by key
	lent   [][]uint32 // by part: our pages that are also there, by key

	mass  [][]float64 // by part: the masses of the last round
	role  []nodeRole
	y     []float64
	share []float64 // d·y/C of our nodes; 0 for others
	ext   []float64 // our nodes: mass from other parts' links; others' nodes: mass from our links
	stay  []uint32  // by node: its links that lead to our core
	late  []uint32  // of these, links to nodes already swept when it changes
	next  []float64 // new y in a step of the power iteration
	base  float64   // 1/N
	core  int

	predict extrapolation
	score   []float64
	result  *RankResult
}

// slots lists nodes in the order in which their masses are sent, leaves last.
type slots struct {
	nodes []uint32
	core  int // number of nodes with links
}

func (s slots) sent(last bool) []uint32 {
	if last {
		return s.nodes
	}
	return s.nodes[:s.core]
}

type nodeRole byte

const (
	noRole nodeRole = iota // of another part, and our pages do not link to it
	ownCore
	ownLeaf
	farCore // of another part, with links; ours link to it
	farLeaf // of another part, without links; ours link to it
)

const (
	nobody     = ^uint32(0) // owner of nodes that no counted page links to
	mostSweeps = 200        // in a round; more do not pay, as the other parts' masses are stale by then
)

// newRankPart returns part me of parts.
func newRankPart(links RankLinks, me, parts int, p *peer, opt RankOptions) (*RankPart, error) {
	n := links.In.Nodes()
	if len(links.Degree) != n || len(links.Keys) != n || len(links.Page) != n {
		return nil, fmt.Errorf("part %d: %d nodes with %d degrees, %d keys, %d in pages", me, n, len(links.Degree), len(links.Keys), len(links.Page))
	}
	opt, err := opt.filled()
	r := &RankPart{me: me, parts: parts, links: links, peer: p, damping: opt.Damping, inbox: make([][]rankMessage, parts), mass: make([][]float64, parts),
		owner: slices.Repeat([]uint32{nobody}, n), out: make([]slots, parts), into: make([]slots, parts)}
	if me == 0 {
		r.coordinator = newRankCoordinator(parts, opt)
	}
	return r, err
}

// Score returns a node's PageRank, and whether this part owns it. Of other nodes it knows only
// the scores of its copies of pages.
func (p *RankPart) Score(v uint32) (score float64, ours bool) {
	if p.score == nil {
		return 0, false
	}
	return p.score[v], p.ours(v)
}

// Result returns counts and the error bound of the ranking, once it is done.
func (p *RankPart) Result() *RankResult { return p.result }

func (p *RankPart) ours(v uint32) bool { return p.owner[v] == uint32(p.me) }

func (p *RankPart) run(ctx context.Context) error {
	err := p.meet(ctx)
	if err == nil {
		err = p.rounds(ctx)
	}
	if err != nil {
		return fmt.Errorf("part %d: %w", p.me, err)
	}
	return nil
}

// send sends a message to a part, which may be this one.
func (p *RankPart) send(ctx context.Context, to int, m rankMessage) error {
	if to == p.me {
		p.inbox[to] = append(p.inbox[to], m)
		return nil
	}
	b := m.encode()
	p.sent += uint64(len(b))
	return p.peer.Send(ctx, to, b)
}

// receive waits for a part's next message, which must be of one of the kinds.
func (p *RankPart) receive(ctx context.Context, from int, kinds ...rankKind) (rankMessage, error) {
	for len(p.inbox[from]) == 0 {
		sender, b, err := p.peer.Receive(ctx)
		if err != nil {
			return rankMessage{}, err
		}
		m, err := decodeRank(b)
		if err != nil {
			return m, fmt.Errorf("part %d: %w", sender, err)
		}
		p.inbox[sender] = append(p.inbox[sender], m)
	}
	m := p.inbox[from][0]
	p.inbox[from] = slices.Delete(p.inbox[from], 0, 1) // frees its lists
	if !slices.Contains(kinds, m.kind) {
		return m, fmt.Errorf("part %d: %w: kind %d instead of %d; run agents of one version", from, errRank, m.kind, kinds)
	}
	return m, nil
}

// receiveOf is receive for a message with so many numbers and floats, and without keys.
func (p *RankPart) receiveOf(ctx context.Context, from int, k rankKind, numbers, floats int) (rankMessage, error) {
	m, err := p.receive(ctx, from, k)
	if err == nil {
		err = m.has(numbers, floats)
	}
	return m, err
}

// swap sends a message of a kind to each other part, and returns theirs, with its own in place.
// They have as many numbers as counts says, if it is not nil.
func (p *RankPart) swap(ctx context.Context, k rankKind, of func(to int) rankMessage, counts [][]uint32) (all []rankMessage, err error) {
	for to := range p.parts {
		m := of(to)
		m.kind = k
		if err := p.send(ctx, to, m); err != nil {
			return nil, err
		}
	}
	for from := range p.parts {
		m, err := p.receive(ctx, from, k)
		if err == nil && counts != nil {
			err = m.has(len(counts[from]), 0)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// report sends a message to the coordinator, which answers once it has one of each part.
func (p *RankPart) report(ctx context.Context, m rankMessage) error {
	if err := p.send(ctx, 0, m); err != nil || p.coordinator == nil {
		return err
	}
	var reports []rankMessage
	for from := range p.parts {
		one, err := p.receiveOf(ctx, from, m.kind, len(m.numbers), len(m.floats))
		if err != nil {
			return err
		}
		reports = append(reports, one)
	}
	order, err := p.coordinator.answer(reports)
	for to := 0; to < p.parts && err == nil; to++ {
		err = p.send(ctx, to, order)
	}
	return err
}

// meet learns each node's owner, and agrees with it on the order of masses.
func (p *RankPart) meet(ctx context.Context) error {
	sorted := make([]uint32, len(p.owner))
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
	// Find owners of our pages first, then of the nodes that pages of our own link to. So links
	// of copies of a page do not count twice.
	page := func(v uint32) bool { return p.links.Page[v] }
	claims, err := p.askClerks(ctx, rankClaims, sorted, page, nil)
	if err != nil {
		return err
	}
	linked := make([]bool, len(p.owner)) // nodes of other parts that our pages link to
	if err := p.links.In.Scan(0, len(linked), func(v uint32, from []uint32) error {
		linked[v] = !p.ours(v) && slices.ContainsFunc(from, p.ours)
		return nil
	}); err != nil {
		return err
	}
	if _, err := p.askClerks(ctx, rankMentions, sorted, func(v uint32) bool { return linked[v] }, claims); err != nil {
		return err
	}
	wanted, into, err := p.askOwners(ctx, rankWants, sorted, func(uint32) bool { return true })
	if err != nil {
		return err
	}
	leaf := make([][]uint64, p.parts)
	for from, nodes := range into {
		for _, v := range nodes {
			leaf[from] = append(leaf[from], one(p.links.Degree[v] == 0))
		}
	}
	leaves, err := p.swap(ctx, rankLeaves, func(to int) rankMessage { return rankMessage{numbers: leaf[to]} }, wanted)
	if err != nil {
		return err
	}
	for q, m := range leaves {
		p.out[q], p.into[q] = inOrder(wanted[q], m.numbers), inOrder(into[q], leaf[q])
	}
	p.copies, p.lent, err = p.askOwners(ctx, rankCopies, sorted, page)
	return err
}

// askClerks asks for the owners of some nodes, and answers what others ask. The clerk of a key is
// part key mod parts. It returns what was asked; before is what was asked earlier.
func (p *RankPart) askClerks(ctx context.Context, k rankKind, sorted []uint32, in func(v uint32) bool, before []rankMessage) ([]rankMessage, error) {
	asked := make([][]uint32, p.parts)
	for _, v := range sorted {
		if in(v) {
			to := p.links.Keys[v] % uint64(p.parts)
			asked[to] = append(asked[to], v)
		}
	}
	questions, err := p.swap(ctx, k, func(to int) rankMessage { return rankMessage{keys: p.keysOf(asked[to])} }, nil)
	if err != nil {
		return nil, err
	}
	owner := owning(slices.Concat(before, questions), p.parts)[len(before):]
	answers, err := p.swap(ctx, k+1, func(to int) rankMessage { return rankMessage{numbers: owner[to]} }, asked)
	if err != nil {
		return nil, err
	}
	for from, m := range answers {
		for i, v := range asked[from] {
			if m.numbers[i] >= uint64(p.parts) {
				return nil, fmt.Errorf("%w: owner %d of %d", errRank, m.numbers[i], p.parts)
			}
			p.owner[v] = uint32(m.numbers[i])
		}
	}
	return questions, nil
}

func (p *RankPart) keysOf(nodes []uint32) (keys []uint64) {
	for _, v := range nodes {
		keys = append(keys, p.links.Keys[v])
	}
	return keys
}

// owning gives each key to the first part that asks for it. The lists, whose keys ascend, are
// claims of pages, followed by mentions if there are twice as many lists as parts.
func owning(asked []rankMessage, parts int) (of [][]uint64) {
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

// askOwners tells owners which of their nodes are here. It returns these, and our nodes that
// others named, by part and in the order of keys.
func (p *RankPart) askOwners(ctx context.Context, k rankKind, sorted []uint32, in func(v uint32) bool) (theirs, ours [][]uint32, err error) {
	theirs, ours = make([][]uint32, p.parts), make([][]uint32, p.parts)
	for _, v := range sorted {
		if o := p.owner[v]; o != nobody && !p.ours(v) && in(v) {
			theirs[o] = append(theirs[o], v)
		}
	}
	named, err := p.swap(ctx, k, func(to int) rankMessage { return rankMessage{keys: p.keysOf(theirs[to])} }, nil)
	if err != nil {
		return nil, nil, err
	}
	for from, m := range named {
		at := 0
		for _, key := range m.keys {
			for at < len(sorted) && p.links.Keys[sorted[at]] < key {
				at++
			}
			if at == len(sorted) || p.links.Keys[sorted[at]] != key || !p.ours(sorted[at]) {
				return nil, nil, fmt.Errorf("%w: part %d names %016x, which belongs to another part", errRank, from, key)
			}
			ours[from] = append(ours[from], sorted[at])
		}
	}
	return theirs, ours, nil
}

func inOrder(nodes []uint32, leaf []uint64) (s slots) {
	var leaves []uint32
	for i, v := range nodes {
		if leaf[i] == 0 {
			s.nodes = append(s.nodes, v)
		} else {
			leaves = append(leaves, v)
		}
	}
	s.core = len(s.nodes)
	s.nodes = append(s.nodes, leaves...)
	return s
}

// classify finds each node's role, and returns how many nodes and links the part owns.
func (p *RankPart) classify() (nodes int, links int64, err error) {
	n := len(p.owner)
	p.role, p.y, p.share, p.ext = make([]nodeRole, n), make([]float64, n), make([]float64, n), make([]float64, n)
	p.stay, p.late, p.next = make([]uint32, n), make([]uint32, n), make([]float64, n)
	for v := range uint32(n) {
		if !p.ours(v) {
			continue
		}
		nodes++
		links += int64(p.links.Degree[v])
		if p.role[v] = ownLeaf; p.links.Degree[v] > 0 {
			p.role[v] = ownCore
			p.core++
		}
	}
	for _, o := range p.out {
		for i, v := range o.nodes {
			if p.role[v] = farCore; i >= o.core {
				p.role[v] = farLeaf
			}
		}
	}
	return nodes, links, p.scan(ownCore, func(v uint32, from []uint32) {
		for _, q := range from {
			if p.stay[q]++; q >= v {
				p.late[q]++
			}
		}
	})
}

func (p *RankPart) scan(role nodeRole, do func(v uint32, from []uint32)) error {
	return p.links.In.Scan(0, len(p.owner), func(v uint32, from []uint32) error {
		if p.role[v] == role {
			do(v, from)
		}
		return nil
	})
}

func (p *RankPart) rounds(ctx context.Context) error {
	nodes, links, err := p.classify()
	if err != nil {
		return err
	}
	if err := p.report(ctx, rankMessage{kind: rankHello, numbers: []uint64{uint64(nodes), uint64(links)}}); err != nil {
		return err
	}
	for {
		order, err := p.receive(ctx, 0, rankTurn, rankFinish, rankDone)
		if err != nil {
			return err
		}
		var m rankMessage
		switch order.kind {
		case rankTurn:
			m, err = p.play(ctx, order)
		case rankFinish:
			m, err = p.scaleAndStep(order)
		default:
			return p.end(ctx, order)
		}
		if err == nil {
			err = p.report(ctx, m)
		}
		if err != nil {
			return err
		}
	}
}

// end sends the scores of our pages that other parts have too, and receives those of our copies.
func (p *RankPart) end(ctx context.Context, done rankMessage) error {
	if err := done.has(5, 1); err != nil {
		return err
	}
	n := done.numbers
	p.result = &RankResult{Nodes: int(n[0]), Edges: int64(n[1]), Rounds: int(n[2]), Sweeps: int(n[3]), Bytes: n[4], Residual: done.floats[0]}
	for to, nodes := range p.lent {
		if err := p.sendOf(ctx, to, rankScores, nodes, p.score); err != nil {
			return err
		}
	}
	for from, nodes := range p.copies {
		if len(nodes) == 0 {
			continue
		}
		m, err := p.receiveOf(ctx, from, rankScores, 0, len(nodes))
		if err != nil {
			return err
		}
		for i, v := range nodes {
			p.score[v] = m.floats[i]
		}
	}
	return nil
}

// sendOf sends the values of some nodes, if any.
func (p *RankPart) sendOf(ctx context.Context, to int, k rankKind, nodes []uint32, values []float64) error {
	if len(nodes) == 0 {
		return nil
	}
	m := rankMessage{kind: k}
	for _, v := range nodes {
		m.floats = append(m.floats, values[v])
	}
	return p.send(ctx, to, m)
}

// play does a round. The report's floats are the sums of y of the core and of the leaves, the sum
// of the core's base, the bound of what the core's equations miss, the mass that our links bring
// to each part's core, and the products for extrapolation.
func (p *RankPart) play(ctx context.Context, turn rankMessage) (rankMessage, error) {
	if err := turn.has(3, 1+p.parts+depth); err != nil {
		return rankMessage{}, err
	}
	last, steps := turn.numbers[0] != 0, turn.numbers[1] != 0
	p.base = 1 / float64(turn.numbers[2])
	used := p.scale(turn.floats[1:1+p.parts], turn.floats[1+p.parts:])
	left, sweeps, err := p.local(turn.floats[0], steps)
	if err == nil {
		err = p.bring(farCore)
	}
	if err == nil && last {
		err = p.bring(farLeaf)
	}
	if err == nil {
		err = p.swapMasses(ctx, last)
	}
	if err != nil {
		return rankMessage{}, err
	}
	m := rankMessage{kind: rankReport, numbers: []uint64{uint64(sweeps)}, floats: make([]float64, 4+p.parts, 4+p.parts+products)}
	for v, r := range p.role {
		if r == ownCore {
			m.floats[0] += p.y[v]
			m.floats[4+p.me] += p.share[v] * float64(p.stay[v])
		}
	}
	m.floats[2] = float64(p.core) * p.base
	missed, came := p.counted(used)
	m.floats[3] = left + missed
	for q, o := range p.out {
		for _, v := range o.sent(false) {
			m.floats[4+q] += p.ext[v]
		}
	}
	m.floats = append(m.floats, p.predict.see(came, used)...)
	if last {
		err = p.scan(ownLeaf, func(v uint32, from []uint32) {
			p.y[v] = p.incoming(v, from)
			m.floats[1] += p.y[v]
		})
	}
	return m, err
}

// scale multiplies y, and the masses that links bring, by the coordinator's factors. It returns
// the mass from other parts for each node of our core.
func (p *RankPart) scale(by, gamma []float64) (used []float64) {
	for v, r := range p.role {
		if r == ownCore || r == ownLeaf {
			p.y[v] *= by[p.me]
			p.share[v] *= by[p.me]
			p.ext[v] = 0
		}
	}
	for q, mass := range p.mass {
		for i, x := range mass[:min(len(mass), p.into[q].core)] {
			p.ext[p.into[q].nodes[i]] += x * by[q]
		}
	}
	used = make([]float64, 0, p.core)
	for v, r := range p.role {
		if r == ownCore {
			for i, d := range p.predict.dg {
				p.ext[v] -= gamma[i] * d[len(used)]
			}
			p.ext[v] = max(0, p.ext[v])
			used = append(used, p.ext[v])
		}
	}
	return used
}

// incoming returns the base plus the mass that all links bring to one of our nodes.
func (p *RankPart) incoming(v uint32, from []uint32) float64 {
	sum := p.base + p.ext[v]
	for _, q := range from {
		sum += p.share[q]
	}
	return sum
}

// set sets the y of a core node, and returns the change of its share.
func (p *RankPart) set(v uint32, y float64) float64 {
	was := p.share[v]
	p.y[v] = y
	p.share[v] = p.damping * y / float64(p.links.Degree[v])
	return math.Abs(p.share[v] - was)
}

// local ranks our core, with other parts' masses fixed, until its error is at most goal: by
// sweeps in place (Gauss–Seidel), or one step of the power iteration. left bounds what the core's
// equations then miss, in the L1 norm.
func (p *RankPart) local(goal float64, step bool) (left float64, sweeps int, err error) {
	if step {
		err = p.scan(ownCore, func(v uint32, from []uint32) { p.next[v] = p.incoming(v, from) })
		for v, r := range p.role {
			if r == ownCore {
				left += p.set(uint32(v), p.next[v]) * float64(p.stay[v])
			}
		}
		return left, 1, err
	}
	for sweeps < mostSweeps && p.core > 0 {
		sweeps++
		left = 0
		err = p.scan(ownCore, func(v uint32, from []uint32) {
			left += p.set(v, p.incoming(v, from)) * float64(p.late[v])
		})
		if err != nil || left <= goal {
			break
		}
	}
	return left, sweeps, err
}

// bring sums what our links bring to other parts' nodes of a role.
func (p *RankPart) bring(role nodeRole) error {
	return p.scan(role, func(v uint32, from []uint32) {
		p.ext[v] = 0
		for _, q := range from {
			p.ext[v] += p.share[q]
		}
	})
}

// swapMasses sends each part the masses of our links and waits for theirs.
func (p *RankPart) swapMasses(ctx context.Context, last bool) error {
	for q, o := range p.out {
		if err := p.sendOf(ctx, q, rankMasses, o.sent(last), p.ext); err != nil {
			return err
		}
	}
	for q, slots := range p.into {
		want := len(slots.sent(last))
		if want == 0 {
			continue
		}
		m, err := p.receiveOf(ctx, q, rankMasses, 0, want)
		if err != nil {
			return err
		}
		if p.mass[q] = m.floats; slices.Min(m.floats) < 0 {
			return fmt.Errorf("part %d: %w: a mass below 0", q, errRank)
		}
	}
	return nil
}

// counted replaces the used masses by this round's, and returns their change in the L1 norm.
func (p *RankPart) counted(used []float64) (change float64, came []float64) {
	for v, r := range p.role {
		if r == ownCore || r == ownLeaf {
			p.ext[v] = 0
		}
	}
	for q, mass := range p.mass {
		for i, x := range mass {
			p.ext[p.into[q].nodes[i]] += x
		}
	}
	came = make([]float64, 0, len(used))
	for v, r := range p.role {
		if r == ownCore {
			change += math.Abs(p.ext[v] - used[len(came)])
			came = append(came, p.ext[v])
		}
	}
	return change, came
}

// scaleAndStep scales y to the sum 1 and makes a step of the power iteration, as the ranking on
// one machine does at its end. It reports the step's change in the L1 norm.
func (p *RankPart) scaleAndStep(finish rankMessage) (m rankMessage, err error) {
	if err := finish.has(0, 2); err != nil {
		return m, err
	}
	sum, leaves, change := finish.floats[0], finish.floats[1], 0.0
	p.score = make([]float64, len(p.y))
	anew := (1 - p.damping + p.damping*leaves/sum) * p.base
	for _, role := range []nodeRole{ownCore, ownLeaf} {
		err = cmp.Or(err, p.scan(role, func(v uint32, from []uint32) {
			p.score[v] = anew + (p.incoming(v, from)-p.base)/sum
			change += math.Abs(p.score[v] - p.y[v]/sum)
		}))
	}
	return rankMessage{kind: rankChange, floats: []float64{change}, numbers: []uint64{p.sent}}, err
}

// rankKind is a message's kind, in the order of the protocol.
type rankKind byte

const (
	rankClaims   rankKind = 1 + iota // part → clerk: keys of its pages, ascending
	rankOwners                       // answer: the owner of each
	rankMentions                     // part → clerk: keys of nodes that its own pages link to, ascending
	rankPlaces                       // answer: the owner of each
	rankWants                        // part → owner: keys of nodes that the part links to, ascending
	rankLeaves                       // answer: 1 for each without links
	rankCopies                       // part → owner: keys of pages that the part also has, ascending
	rankHello                        // part → coordinator: numbers: nodes and links owned
	rankTurn                         // coordinator → part: numbers: 1 if last round, 1 if only a power step, nodes of all; floats: goal, a factor for each part, γ
	rankMasses                       // part → part: floats: mass that links bring to each wanted node
	rankReport                       // part → coordinator, see play
	rankFinish                       // coordinator → part: floats: sum of all y, sum of y of leaves
	rankChange                       // part → coordinator: numbers: bytes sent; floats: change by the step
	rankDone                         // coordinator → part: numbers and floats: the result
	rankScores                       // answer to rankCopies: the score of each
)

// rankMessage is a message of the ranking. Its encoding, which for ranks and keys is shorter than
// CBOR: the kind, a byte; then varints: the lengths of the three lists, keys as differences,
// numbers; then floats, little-endian IEEE 754.
type rankMessage struct {
	kind    rankKind
	keys    []uint64 // ascending, distinct
	numbers []uint64
	floats  []float64
}

var errRank = errors.New("not a message of this exchange of ranks")

func (m rankMessage) encode() []byte {
	b := make([]byte, 0, 16+9*len(m.keys)+2*len(m.numbers)+8*len(m.floats))
	b = append(b, byte(m.kind))
	for _, n := range []int{len(m.keys), len(m.numbers), len(m.floats)} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	last := uint64(0)
	for _, k := range m.keys {
		b = binary.AppendUvarint(b, k-last)
		last = k
	}
	for _, n := range m.numbers {
		b = binary.AppendUvarint(b, n)
	}
	for _, x := range m.floats {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b
}

// decodeRank decodes a message. It allocates in proportion to the bytes.
func decodeRank(b []byte) (m rankMessage, err error) {
	if len(b) == 0 || rankKind(b[0]) < rankClaims || rankKind(b[0]) > rankScores {
		return m, fmt.Errorf("%w: unknown kind", errRank)
	}
	m.kind = rankKind(b[0])
	b, bad := b[1:], false
	next := func() uint64 {
		x, n := binary.Uvarint(b)
		if bad = bad || n <= 0; bad {
			return 0
		}
		b = b[n:]
		return x
	}
	keys, numbers, floats := next(), next(), next()
	if left := uint64(len(b)); keys > left || numbers > left-keys || floats > (left-keys-numbers)/8 {
		return m, fmt.Errorf("%w: truncated, or counts beyond its bytes", errRank)
	}
	last := uint64(0)
	for i := range keys {
		step := next()
		bad = bad || i > 0 && step == 0 || last+step < last // keys do not ascend
		last += step
		m.keys = append(m.keys, last)
	}
	for range numbers {
		m.numbers = append(m.numbers, next())
	}
	if bad || uint64(len(b)) != 8*floats {
		return m, fmt.Errorf("%w: truncated, or keys do not ascend", errRank)
	}
	for i := range floats {
		x := math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return m, fmt.Errorf("%w: %g", errRank, x)
		}
		m.floats = append(m.floats, x)
	}
	return m, nil
}

// has checks the lengths of the lists of a message without keys.
func (m rankMessage) has(numbers, floats int) error {
	if len(m.keys) != 0 || len(m.numbers) != numbers || len(m.floats) != floats {
		return fmt.Errorf("%w: kind %d has %d keys, %d numbers, %d floats; want 0, %d, %d; run agents of one version", errRank,
			m.kind, len(m.keys), len(m.numbers), len(m.floats), numbers, floats)
	}
	return nil
}
