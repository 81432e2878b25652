package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"fossick/crawler"
	"fossick/internal/wire"
)

// A message of one member to another's engine begins with a byte for its kind.
const (
	toldFrame  = 'f' // of the sender's replica
	toldAnswer = 'a' // of its keeper
	toldLesson = 'l' // of teaching
)

// hear takes in a message of another member. It does not wait.
func (m *Member) hear(from AgentID, told []byte) {
	if len(told) == 0 {
		return
	}
	kind, b := told[0], told[1:]
	switch {
	case kind == toldFrame && m.keeps(from):
		m.keeper.hear(from, b)
	case kind == toldAnswer && m.sender != nil:
		m.sender.hear(from, b)
	case kind == toldLesson:
		select {
		case m.unheard <- lesson{from, b}:
		default: // it comes again
		}
	}
}

// teaching is everything that members tell each other besides links: updates of their scorers,
// labels that people gave, and duplicates that any of them may have. One goroutine owns it,
// beside the crawl.
type teaching struct {
	*Member
	broadcast *broadcast // nil until the first heartbeat was accepted
	past      [][]byte   // updates by the store's pages, before this run
	recent    [][]byte   // labels of this run, the latest: not all of them are in the store
}

// lesson is a message of another member.
type lesson struct {
	from  AgentID
	bytes []byte
}

const (
	// teachEvery is how often members tell what they learned, while they are few; teachEach is
	// how much longer that takes with each member, so that a member sends half a megabyte a
	// second at most.
	teachEvery  = 2 * time.Second
	teachEach   = 250 * time.Millisecond
	mostUnheard = 64   // messages that wait to be read; others come again
	mostLabels  = 2000 // of the store, and of this run, that a newcomer is told
)

// Kinds of items, which their first byte tells.
const (
	itemSums   = 's'
	itemLabel  = 'l'
	itemRepeat = 'r'
)

func itemOf(kind byte, bytes []byte) broadcastItem {
	return broadcastItem{Bytes: append([]byte{kind}, bytes...)}
}

// teach tells the others what this member learns, and takes in what they say.
func (m *Member) teach(ctx context.Context, past [][]byte) error {
	t := &teaching{Member: m, past: past}
	timer := time.NewTimer(teachEvery)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case s := <-m.unheard:
			if err := t.listen(ctx, s); err != nil {
				return err
			}
		case <-timer.C:
			every, err := t.round()
			if err != nil {
				return err
			}
			timer.Reset(every)
		}
	}
}

// round tells, and returns the time until the next round.
func (t *teaching) round() (every time.Duration, err error) {
	run, living := t.peers()
	every = max(teachEvery, time.Duration(len(living))*teachEach)
	if run == 0 {
		return every, nil
	}
	if t.broadcast == nil {
		t.broadcast = newBroadcast(run)
	}
	t.mu.Lock()
	labels, repeats := t.labels, t.repeats
	t.labels, t.repeats = nil, nil
	t.mu.Unlock()
	for _, r := range repeats { // a newcomer misses them, and keeps a page that others have
		t.broadcast.say(itemOf(itemRepeat, r))
	}
	for _, l := range labels {
		t.broadcast.say(itemOf(itemLabel, l))
	}
	t.recent = append(t.recent, labels...)
	t.recent = t.recent[max(0, len(t.recent)-mostLabels):]
	if told := t.agent.Told(); told != nil {
		sums := itemOf(itemSums, told)
		sums.spare = true
		t.broadcast.say(sums)
	}
	messages, err := t.broadcast.nextRound(living, t.soFar)
	for _, m := range messages {
		t.Member.say(m.to, toldLesson, m.bytes)
	}
	return every, err
}

// soFar returns the items for a member that knows nothing yet. Those of the past are not for
// one that heard an earlier run of this member.
func (t *teaching) soFar() (items []broadcastItem, err error) {
	for _, told := range t.past {
		past := itemOf(itemSums, told)
		past.Old = true
		items = append(items, past)
	}
	for _, told := range t.agent.ToldSoFar() {
		items = append(items, itemOf(itemSums, told))
	}
	labels, err := t.agent.Labels(mostLabels)
	for _, l := range slices.Concat(labels, t.recent) {
		items = append(items, itemOf(itemLabel, l))
	}
	return items, err
}

// listen takes in a message. It skips what it cannot read.
func (t *teaching) listen(ctx context.Context, s lesson) error {
	if t.broadcast == nil {
		return nil
	}
	items, wrong := t.broadcast.hear(s.from, s.bytes)
	var labels, repeats [][]byte
	for _, it := range items {
		switch it[0] {
		case itemSums:
			wrong = errors.Join(wrong, t.agent.Hear(it[1:]))
		case itemLabel:
			labels = append(labels, it[1:])
		case itemRepeat:
			repeats = append(repeats, it[1:])
		}
	}
	refused, err := t.agent.HearLabels(ctx, labels)
	if err != nil {
		return err
	}
	unread, err := crawler.HearDuplicates(ctx, t.agent, repeats)
	if wrong = errors.Join(wrong, refused, unread); wrong != nil {
		t.opt.Crawl.Log.Warn("a message from another agent is ignored", "agent", s.from, "err", wrong)
	}
	return err
}

// broadcast is one agent's side, for one run, of telling items to all others, once each and in
// order, over messages that get lost, doubled, late and out of order. It has no goroutine and
// no clock. Its memory for an agent that does not answer is bounded. A run is an agent's
// process; runs of an agent rise. A new process knows nothing, so its first items are all that
// was said so far. Not safe for concurrent use.
type broadcast struct {
	run   uint64
	round int
	peers map[AgentID]*listener
}

// broadcastItem is something said. Its bytes are nil where it was left out.
type broadcastItem struct {
	_     struct{} `cbor:",toarray"`
	Old   bool     // not for agents that heard an earlier run of the sender, which has said it
	Bytes []byte   `most:"262144"` // 128 KiB at most
	spare bool     // may be left out for an agent for which much waits
}

// listener is the state towards another agent.
type listener struct {
	run   uint64 // its latest; 0: not known
	begun bool   // it has a queue

	queue []broadcastItem // not acknowledged; their numbers follow each other
	acked uint64          // number of the item before the queue
	sent  uint64          // up to this number, lately
	since int             // round in which something was acknowledged or sent again

	received uint64 // of its items
	before   bool   // items of a run before this one were received
	owes     bool   // it waits for an acknowledgement
}

// broadcastMessage is what one agent tells another in a round.
type broadcastMessage struct {
	_     struct{} `cbor:",toarray"`
	Run   uint64   // of the sender
	To    uint64   // run of the receiver that the rest is for; 0: none is known yet
	Ack   uint64   // the receiver's items up to this number were received
	Floor uint64   // no item up to this number will be sent any more
	After uint64   // number of the item before the first
	Items []broadcastItem
}

const (
	roundBytes    = 128 << 10 // of a message, about; a single item may exceed it
	roundPatience = 3         // rounds without an answer after which items are sent again
	mostSpare     = 64        // spare items that wait for an agent
	mostItems     = 4096      // of a message
)

func newBroadcast(run uint64) *broadcast {
	return &broadcast{run: run, peers: map[AgentID]*listener{}}
}

// say tells an item to all agents that have a queue. For later ones soFar of nextRound has it.
func (b *broadcast) say(it broadcastItem) {
	for _, p := range b.peers {
		if p.begun {
			p.put(it)
		}
	}
}

func (p *listener) put(it broadcastItem) {
	p.queue = append(p.queue, it)
	spare := 0
	for _, q := range p.queue {
		if q.spare {
			spare++
		}
	}
	if spare > mostSpare { // the number stays, as an item without bytes
		p.queue[slices.IndexFunc(p.queue, func(q broadcastItem) bool { return q.spare })] = broadcastItem{}
	}
}

// broadcastTo is a message to be sent.
type broadcastTo struct {
	to    AgentID
	bytes []byte
}

func (b *broadcast) peer(id AgentID) *listener {
	p := b.peers[id]
	if p == nil {
		p = &listener{}
		b.peers[id] = p
	}
	return p
}

// nextRound returns the messages of a round to the living agents. soFar returns all items for
// an agent that knows nothing yet.
func (b *broadcast) nextRound(living []AgentID, soFar func() ([]broadcastItem, error)) (messages []broadcastTo, err error) {
	b.round++
	for _, id := range living {
		p := b.peer(id)
		if p.run != 0 && !p.begun {
			all, err := soFar()
			if err != nil {
				return messages, err
			}
			p.begun, p.since = true, b.round
			for _, it := range all {
				it.spare = false
				p.put(it)
			}
		}
		m := broadcastMessage{Run: b.run, To: p.run, Ack: p.received}
		b.fill(&m, p)
		if len(m.Items) > 0 || p.owes || p.run == 0 {
			p.owes = false
			messages = append(messages, broadcastTo{id, wire.Encode(m)})
		}
	}
	return messages, nil
}

// fill takes the next items of a peer's queue into a message.
func (b *broadcast) fill(m *broadcastMessage, p *listener) {
	for len(p.queue) > 0 && p.queue[0].Bytes == nil {
		p.queue = p.queue[1:]
		p.acked++
	}
	if p.sent > p.acked && b.round-p.since >= roundPatience {
		p.sent = p.acked
	}
	p.sent = max(p.sent, p.acked)
	if p.sent == p.acked {
		p.since = b.round
	}
	m.Floor, m.After = p.acked, p.sent
	size := 0
	for _, q := range p.queue[p.sent-p.acked:] {
		if size += len(q.Bytes); size > roundBytes && len(m.Items) > 0 || len(m.Items) == mostItems {
			break
		}
		m.Items = append(m.Items, q)
		p.sent++
	}
}

// hear takes in a message, and returns the items in it that were not received before.
func (b *broadcast) hear(from AgentID, bytes []byte) (items [][]byte, err error) {
	m, err := decode[broadcastMessage]("message of another member", bytes)
	if err == nil && (m.Run == 0 || m.Floor > m.After || len(m.Items) > mostItems) {
		err = fmt.Errorf("message of another member: run %d: %w", m.Run, errWire)
	}
	if err != nil {
		return nil, err
	}
	p := b.peer(from)
	switch {
	case m.Run < p.run: // it was long on its way
		return nil, nil
	case m.Run > p.run: // a new process, which knows nothing of this one
		*p = listener{run: m.Run, before: p.before || p.received > 0}
	}
	if m.To != b.run {
		p.owes = true // it must learn of this run
		return nil, nil
	}
	if n := m.Ack - p.acked; m.Ack > p.acked && n <= uint64(len(p.queue)) {
		p.queue, p.acked, p.since = p.queue[n:], m.Ack, b.round
	}
	if len(m.Items) == 0 {
		return nil, nil
	}
	p.owes = true
	p.received = max(p.received, m.Floor)
	if m.After > p.received {
		return nil, nil // items before are on their way, or lost
	}
	for i, it := range m.Items {
		if m.After+uint64(i)+1 <= p.received {
			continue
		}
		p.received++
		if len(it.Bytes) > 0 && !(it.Old && p.before) {
			items = append(items, it.Bytes)
		}
	}
	return items, nil
}
