package cluster

import (
	"cmp"
	"context"
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
	me, parts int
	links     RankLinks
	line      *rankLine
	again     bool // this agent took part before and died
	damping   float64

	owner  []uint32   // by node: the part that owns it
	out    []slots    // by part: its nodes that our nodes link to
	into   []slots    // by part: our nodes that its nodes link to
	copies [][]uint32 // by part: its pages that are also here, by key
	lent   [][]uint32 // by part: our pages that are also there, by key

	meet map[rankKind][]*rankMessage // messages before the first round, by kind and part

	round  int
	begin  *rankMessage
	turn   *rankMessage // the latest
	finish *rankMessage
	done   *rankMessage
	ranks  []*rankMessage // by part: scores of our copies of its pages
	ahead  []*rankMessage // by part: the latest masses received, not yet counted
	mass   []*rankMessage // by part: the masses of the round before

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

// newRankPart returns part me of parts. again: this agent took part before and died.
func newRankPart(links RankLinks, me, parts int, peers rankPeers, again bool) (*RankPart, error) {
	n := links.In.Nodes()
	if len(links.Degree) != n || len(links.Keys) != n || len(links.Page) != n {
		return nil, fmt.Errorf("part %d: %d nodes with %d degrees, %d keys, %d in pages", me, n, len(links.Degree), len(links.Keys), len(links.Page))
	}
	if me < 0 || me >= parts {
		return nil, fmt.Errorf("part %d of %d", me, parts)
	}
	p := &RankPart{me: me, parts: parts, links: links, again: again, line: newRankLine(peers, parts+1),
		owner: slices.Repeat([]uint32{nobody}, n), out: make([]slots, parts), into: make([]slots, parts), meet: map[rankKind][]*rankMessage{},
		ahead: make([]*rankMessage, parts), mass: make([]*rankMessage, parts), ranks: make([]*rankMessage, parts)}
	for k := rankClaims; k <= rankCopies; k++ {
		p.meet[k] = make([]*rankMessage, parts)
	}
	return p, nil
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
	for to := range p.parts + 1 {
		if p.again && to != p.me {
			if err := p.line.send(ctx, to, rankMessage{kind: rankAgain}); err != nil {
				return err
			}
		}
	}
	err := p.meetOthers(ctx)
	if err == nil {
		err = p.rounds(ctx)
	}
	if err != nil {
		return fmt.Errorf("part %d: %w", p.me, err)
	}
	return nil
}

func (p *RankPart) wait(ctx context.Context, have func() bool) error {
	for !have() {
		from, m, err := p.line.receive(ctx)
		if err != nil {
			return err
		}
		if err := p.take(from, m); err != nil {
			return fmt.Errorf("peer %d: %w", from, err)
		}
	}
	return nil
}

// take stores a message for its reader. A repeated message has the same content.
func (p *RankPart) take(from int, m rankMessage) error {
	leads := m.kind == rankBegin || m.kind == rankTurn || m.kind == rankFinish || m.kind == rankDone
	switch {
	case m.kind == rankAgain:
		return nil
	case leads != (from == p.parts) || from == p.me || p.meet[m.kind] == nil && !leads && m.kind != rankMasses && m.kind != rankScores:
		return fmt.Errorf("%w: kind %d is not for this peer", errRank, m.kind)
	}
	switch m.kind {
	case rankBegin:
		p.begin = &m
		return m.has(1, 1)
	case rankTurn:
		if p.turn == nil || m.round > p.turn.round {
			p.turn = &m
		}
		return m.has(2, 1+p.parts+depth)
	case rankFinish:
		p.finish = &m
		return m.has(0, 2)
	case rankDone:
		p.done = &m
		return m.has(6, 1)
	case rankScores:
		p.ranks[from] = &m
	case rankMasses:
		if slices.ContainsFunc(m.floats, func(x float64) bool { return x < 0 }) {
			return fmt.Errorf("%w: a mass below 0", errRank)
		}
		p.ahead[from] = &m
	default:
		p.meet[m.kind][from] = &m
	}
	return nil
}

// meetOthers learns each node's owner, and agrees with it on the order of masses.
func (p *RankPart) meetOthers(ctx context.Context) error {
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
	of := func() [][]uint64 { return owning(p.meet[rankClaims], p.parts) }
	if err := p.askClerks(ctx, rankClaims, sorted, page, of); err != nil {
		return err
	}
	linked := make([]bool, len(p.owner)) // nodes of other parts that our pages link to
	if err := p.links.In.Scan(0, len(linked), func(v uint32, from []uint32) error {
		linked[v] = !p.ours(v) && slices.ContainsFunc(from, p.ours)
		return nil
	}); err != nil {
		return err
	}
	of = func() [][]uint64 {
		return owning(slices.Concat(p.meet[rankClaims], p.meet[rankMentions]), p.parts)[p.parts:]
	}
	if err := p.askClerks(ctx, rankMentions, sorted, func(v uint32) bool { return linked[v] }, of); err != nil {
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
	if err := p.ask(ctx, rankLeaves, func(to int) rankMessage { return rankMessage{numbers: leaf[to]} }); err != nil {
		return err
	}
	for q, m := range p.meet[rankLeaves] {
		if err := m.has(len(wanted[q]), 0); err != nil {
			return err
		}
		p.out[q], p.into[q] = inOrder(wanted[q], m.numbers), inOrder(into[q], leaf[q])
	}
	p.copies, p.lent, err = p.askOwners(ctx, rankCopies, sorted, page)
	for k := range p.meet {
		p.meet[k] = make([]*rankMessage, p.parts)
	}
	return err
}

// ask sends a message to each other part and waits for theirs.
func (p *RankPart) ask(ctx context.Context, k rankKind, of func(to int) rankMessage) error {
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

// askClerks asks for the owners of some nodes, and answers as a clerk with of. The clerk of a key
// is part key mod parts.
func (p *RankPart) askClerks(ctx context.Context, k rankKind, sorted []uint32, in func(v uint32) bool, of func() [][]uint64) error {
	asked := make([][]uint32, p.parts)
	for _, v := range sorted {
		if in(v) {
			to := p.links.Keys[v] % uint64(p.parts)
			asked[to] = append(asked[to], v)
		}
	}
	if err := p.ask(ctx, k, func(to int) rankMessage { return rankMessage{keys: p.keysOf(asked[to])} }); err != nil {
		return err
	}
	owner := of()
	if err := p.ask(ctx, k+1, func(to int) rankMessage { return rankMessage{numbers: owner[to]} }); err != nil {
		return err
	}
	for from, m := range p.meet[k+1] {
		if err := m.has(len(asked[from]), 0); err != nil {
			return err
		}
		for i, v := range asked[from] {
			if m.numbers[i] >= uint64(p.parts) {
				return fmt.Errorf("%w: owner %d of %d", errRank, m.numbers[i], p.parts)
			}
			p.owner[v] = uint32(m.numbers[i])
		}
	}
	return nil
}

func (p *RankPart) keysOf(nodes []uint32) (keys []uint64) {
	for _, v := range nodes {
		keys = append(keys, p.links.Keys[v])
	}
	return keys
}

// owning gives each key to the first part that asks for it. The lists, whose keys ascend, are
// claims of pages, followed by mentions if there are twice as many lists as parts.
func owning(asked []*rankMessage, parts int) (of [][]uint64) {
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
	if err := p.ask(ctx, k, func(to int) rankMessage { return rankMessage{keys: p.keysOf(theirs[to])} }); err != nil {
		return nil, nil, err
	}
	for from, m := range p.meet[k] {
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
	if err := p.line.send(ctx, p.parts, rankMessage{kind: rankHello, numbers: []uint64{uint64(nodes), uint64(links), p.line.bytes}}); err != nil {
		return err
	}
	if err := p.wait(ctx, func() bool { return p.begin != nil }); err != nil {
		return err
	}
	p.base, p.damping = 1/float64(p.begin.numbers[0]), p.begin.floats[0]
	for {
		turned := func() bool { return p.turn != nil && p.turn.round > p.round }
		finished := func() bool { return p.finish != nil && p.finish.round == p.round && p.round > 0 }
		if err := p.wait(ctx, func() bool { return p.done != nil || turned() || finished() }); err != nil {
			return err
		}
		var m rankMessage
		var err error
		switch {
		case p.done != nil:
			return p.end(ctx)
		case turned():
			m, err = p.play(ctx, *p.turn)
		default:
			m = rankMessage{kind: rankChange, round: p.round, floats: make([]float64, 1), numbers: []uint64{p.line.bytes}}
			m.floats[0], err = p.scaleAndStep(p.finish.floats[0], p.finish.floats[1])
			p.finish = nil
		}
		if err == nil {
			err = p.line.send(ctx, p.parts, m)
		}
		if err != nil {
			return err
		}
	}
}

// end sends the scores of our pages that other parts have too, and receives those of our copies.
func (p *RankPart) end(ctx context.Context) error {
	n := p.done.numbers
	p.result = &RankResult{Nodes: int(n[0]), Edges: int64(n[1]), Rounds: int(n[2]), Sweeps: int(n[3]), Bytes: n[4], Meeting: n[5], Residual: p.done.floats[0]}
	if p.score == nil && p.result.Nodes > 0 {
		return errLate
	}
	for to, nodes := range p.lent {
		if len(nodes) == 0 {
			continue
		}
		m := rankMessage{kind: rankScores}
		for _, v := range nodes {
			m.floats = append(m.floats, p.score[v])
		}
		if err := p.line.send(ctx, to, m); err != nil {
			return err
		}
	}
	for from, nodes := range p.copies {
		if len(nodes) == 0 {
			continue
		}
		if err := p.wait(ctx, func() bool { return p.ranks[from] != nil }); err != nil {
			return err
		}
		if err := p.ranks[from].has(0, len(nodes)); err != nil {
			return fmt.Errorf("part %d: %w", from, err)
		}
		for i, v := range nodes {
			p.score[v] = p.ranks[from].floats[i]
		}
	}
	return nil
}

// play does a round. The report's floats are the sums of y of the core and of the leaves, the sum
// of the core's base, the bound of what the core's equations miss, the mass that our links bring
// to each part's core, and the products for extrapolation.
func (p *RankPart) play(ctx context.Context, t rankMessage) (rankMessage, error) {
	last, steps := t.numbers[0] != 0, t.numbers[1] != 0
	p.round = t.round
	used := p.scale(t.floats[1:1+p.parts], t.floats[1+p.parts:])
	left, sweeps, err := p.local(t.floats[0], steps)
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
	m := rankMessage{kind: rankReport, round: t.round, numbers: []uint64{uint64(sweeps)}, floats: make([]float64, 4+p.parts, 4+p.parts+products)}
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
// the mass from other parts for each node of our core. A part that died has nothing to scale, and
// any masses of this round that it received need no scaling.
func (p *RankPart) scale(by, gamma []float64) (used []float64) {
	for v, r := range p.role {
		if r == ownCore || r == ownLeaf {
			p.y[v] *= by[p.me]
			p.share[v] *= by[p.me]
			p.ext[v] = 0
		}
	}
	for q, slots := range p.into {
		if p.ahead[q] != nil && p.ahead[q].round < p.round {
			p.mass[q], p.ahead[q] = p.ahead[q], nil
		}
		factor, m := by[q], p.mass[q]
		if m == nil {
			factor, m = 1, p.ahead[q]
		}
		if m == nil || len(m.floats) < slots.core {
			continue
		}
		for i, v := range slots.sent(false) {
			p.ext[v] += m.floats[i] * factor
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
		nodes := o.sent(last)
		if len(nodes) == 0 {
			continue
		}
		m := rankMessage{kind: rankMasses, round: p.round}
		for _, v := range nodes {
			m.floats = append(m.floats, p.ext[v])
		}
		if err := p.line.send(ctx, q, m); err != nil {
			return err
		}
	}
	for q, slots := range p.into {
		want := len(slots.sent(last))
		if err := p.wait(ctx, func() bool { return want == 0 || p.ahead[q] != nil && p.ahead[q].round >= p.round }); err != nil {
			return err
		}
		if m := p.ahead[q]; m != nil {
			if err := m.has(0, want); err != nil || m.round != p.round {
				return fmt.Errorf("masses of part %d, round %d in round %d: %w", q, m.round, p.round, err)
			}
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
	for q, slots := range p.into {
		if m := p.ahead[q]; m != nil {
			for i, x := range m.floats {
				p.ext[slots.nodes[i]] += x
			}
			p.mass[q], p.ahead[q] = m, nil
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
// one machine does at its end. It returns the step's change in the L1 norm.
func (p *RankPart) scaleAndStep(sum, leaves float64) (change float64, err error) {
	p.score = make([]float64, len(p.y))
	anew := (1 - p.damping + p.damping*leaves/sum) * p.base
	for _, role := range []nodeRole{ownCore, ownLeaf} {
		err = cmp.Or(err, p.scan(role, func(v uint32, from []uint32) {
			p.score[v] = anew + (p.incoming(v, from)-p.base)/sum
			change += math.Abs(p.score[v] - p.y[v]/sum)
		}))
	}
	return change, err
}
