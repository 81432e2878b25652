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

const (
	frameMessage  = 'f' // a frame of the sender's replica
	answerMessage = 'a'
	lessonMessage = 'l' // a message of broadcast
)

// receive handles a message of another member without blocking.
func (m *Member) handle(from AgentID, message []byte) {
	if len(message) == 0 {
		return
	}
	kind, b := message[0], message[1:]
	switch {
	case kind == frameMessage && m.isKeeperOf(from):
		m.keeper.handle(from, b)
	case kind == answerMessage && m.sender != nil:
		m.sender.handle(from, b)
	case kind == lessonMessage:
		select {
		case m.lessons <- lesson{from, b}:
		default: // the sender repeats it
		}
	}
}

// teaching is what members tell each other besides links. One goroutine owns it.
type teaching struct {
	*Member
	broadcast *broadcast // nil until a heartbeat has been accepted
	past      [][]byte   // scorer updates from pages stored before this run
	recent    [][]byte   // the latest labels of this run, as the store may lack some
}

type lesson struct {
	from  AgentID
	bytes []byte
}

const (
	// teachEvery is the least time between rounds, and teachEach the time for each member, so
	// that a member sends at most half a megabyte a second.
	teachEvery = 2 * time.Second
	teachEach  = 250 * time.Millisecond
	maxUnread  = 64   // unread messages; dropped ones are repeated
	mostLabels = 2000 // labels of the store, and of this run, that a newcomer receives
)

const (
	itemSums   = 's'
	itemLabel  = 'l'
	itemRepeat = 'r'
)

func itemOf(kind byte, bytes []byte) broadcastItem {
	return broadcastItem{Bytes: append([]byte{kind}, bytes...)}
}

// teach sends what this member learns to the others, and handles what they send.
func (m *Member) teach(ctx context.Context, past [][]byte) error {
	t := &teaching{Member: m, past: past}
	timer := time.NewTimer(teachEvery)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case s := <-m.lessons:
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
	for _, r := range repeats { // a newcomer misses these, and keeps a page that others also have
		t.broadcast.say(itemOf(itemRepeat, r))
	}
	for _, l := range labels {
		t.broadcast.say(itemOf(itemLabel, l))
	}
	t.recent = append(t.recent, labels...)
	t.recent = t.recent[max(0, len(t.recent)-mostLabels):]
	if lesson := t.agent.Lesson(); lesson != nil {
		sums := itemOf(itemSums, lesson)
		sums.spare = true
		t.broadcast.say(sums)
	}
	messages, err := t.broadcast.nextRound(living, t.soFar)
	for _, m := range messages {
		t.sendEngine(m.to, lessonMessage, m.bytes)
	}
	return every, err
}

// soFar returns the items for a new member. Those that heard an earlier run skip past items.
func (t *teaching) soFar() (items []broadcastItem, err error) {
	for _, lesson := range t.past {
		past := itemOf(itemSums, lesson)
		past.Old = true
		items = append(items, past)
	}
	for _, lesson := range t.agent.Lessons() {
		items = append(items, itemOf(itemSums, lesson))
	}
	labels, err := t.agent.Labels(mostLabels)
	for _, l := range slices.Concat(labels, t.recent) {
		items = append(items, itemOf(itemLabel, l))
	}
	return items, err
}

// listen handles a message, and skips what it cannot read.
func (t *teaching) listen(ctx context.Context, s lesson) error {
	if t.broadcast == nil {
		return nil
	}
	items, wrong := t.broadcast.handle(s.from, s.bytes)
	var labels, repeats [][]byte
	for _, it := range items {
		switch it[0] {
		case itemSums:
			wrong = errors.Join(wrong, t.agent.Learn(it[1:]))
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
	unread, err := crawler.ReceiveDuplicates(ctx, t.agent, repeats)
	if wrong = errors.Join(wrong, refused, unread); wrong != nil {
		t.opt.Crawl.Log.Warn("a message from another agent is ignored", "agent", s.from, "err", wrong)
	}
	return err
}

// broadcast sends items to all agents, and receives theirs, each once and in order over a lossy
// exchange. A run is one process of an agent; later ones have higher numbers. A new process first
// receives everything said so far. Memory for a silent agent is bounded. Not safe for concurrent
// use.
type broadcast struct {
	run   uint64
	round int
	peers map[AgentID]*listener
}

type broadcastItem struct {
	_     struct{} `cbor:",toarray"`
	Old   bool     // skipped by agents that heard an earlier run of the sender, which sent it
	Bytes []byte   `most:"262144"` // 128 KiB at most
	spare bool     // may be dropped for an agent with a long queue
}

type listener struct {
	run   uint64 // latest run; 0: not known
	begun bool   // the queue has been started

	queue []broadcastItem // unacknowledged items, numbered consecutively
	acked uint64          // number of the item before the queue
	sent  uint64          // last item sent
	since int             // round of the last acknowledgement or repetition

	received uint64 // last of its items received
	before   bool   // items of an earlier run were received
	owes     bool   // we owe it an acknowledgement
}

type broadcastMessage struct {
	_     struct{} `cbor:",toarray"`
	Run   uint64
	To    uint64 // receiver's run to which the rest refers; 0: not known yet
	Ack   uint64 // the last of the receiver's items that arrived
	Floor uint64 // no item up to this number will be sent again
	After uint64 // number of the item before Items
	Items []broadcastItem
}

const (
	roundBytes    = 128 << 10
	roundPatience = 3    // rounds without an acknowledgement before items are repeated
	mostSpare     = 64   // spare items queued for an agent
	mostItems     = 4096 // in a message
)

func newBroadcast(run uint64) *broadcast {
	return &broadcast{run: run, peers: map[AgentID]*listener{}}
}

// say queues an item for all agents with a queue. Others get it later from soFar.
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
	if spare > mostSpare { // keep the number, as an item without bytes
		p.queue[slices.IndexFunc(p.queue, func(q broadcastItem) bool { return q.spare })] = broadcastItem{}
	}
}

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

// nextRound returns a round's messages. soFar returns all items for an agent that knows nothing
// yet.
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

func (b *broadcast) handle(from AgentID, bytes []byte) (items [][]byte, err error) {
	m, err := decode[broadcastMessage]("message of another member", bytes)
	if err == nil && (m.Run == 0 || m.Floor > m.After || len(m.Items) > mostItems) {
		err = fmt.Errorf("message of another member: run %d: %w", m.Run, errWire)
	}
	if err != nil {
		return nil, err
	}
	p := b.peer(from)
	switch {
	case m.Run < p.run: // a late message of an earlier run
		return nil, nil
	case m.Run > p.run: // a new process, which knows nothing of this one
		*p = listener{run: m.Run, before: p.before || p.received > 0}
	}
	if m.To != b.run {
		p.owes = true // it must learn this run's number
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
		return nil, nil // earlier items are late or lost
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
