package broadcast

import (
	"slices"

	"fossick/crawler/cluster"

	"fossick/internal/wire"
)

// Broadcast is one agent's side of it, for one run. It is not safe for concurrent use.
type Broadcast struct {
	run   uint64
	round int
	peers map[cluster.AgentID]*peer
}

// Item is something said.
type Item struct {
	Bytes []byte // 128 KiB at most
	Old   bool   // not for who heard an earlier run of the agent, which has said it
	Spare bool   // may be left out for an agent for which much waits
}

// peer is what is known of another agent.
type peer struct {
	run   uint64 // its latest; 0: not known
	begun bool   // it has a queue

	queue []queued // not known to be heard; their numbers follow each other
	acked uint64   // number of the item before the queue
	sent  uint64   // up to this number, lately
	since int      // round in which something was acknowledged or sent again

	heard  uint64 // of its items
	before bool   // items of a run before this one were heard
	owes   bool   // it waits to hear what was heard
}

type queued struct {
	item
	spare bool
}

const (
	// roundBytes is about how much one message has at most; one item may exceed it.
	roundBytes = 128 << 10
	// patience is after how many rounds without an answer items are sent again.
	patience = 3
	// mostWaiting is how many spare items wait for an agent at most.
	mostWaiting = 64
)

// New returns an agent's side for a run, which is not 0.
func New(run uint64) *Broadcast { return &Broadcast{run: run, peers: map[cluster.AgentID]*peer{}} }

// Say has an item told to all agents, also to those that come later: for these SoFar of
// Round has it.
func (b *Broadcast) Say(it Item) {
	for _, p := range b.peers {
		if p.begun {
			p.put(it)
		}
	}
}

func (p *peer) put(it Item) {
	p.queue = append(p.queue, queued{item{Old: it.Old, Bytes: it.Bytes}, it.Spare})
	spare := 0
	for _, q := range p.queue {
		if q.spare {
			spare++
		}
	}
	if spare <= mostWaiting {
		return
	}
	// A number that is left out stays, as an item of no bytes.
	i := slices.IndexFunc(p.queue, func(q queued) bool { return q.spare })
	p.queue[i] = queued{}
}

// Message is one to be sent.
type Message struct {
	To    cluster.AgentID
	Bytes []byte
}

// Round returns the messages of a round to the agents that live. soFar returns all that was
// said, for one that knows nothing yet.
func (b *Broadcast) Round(living []cluster.AgentID, soFar func() ([]Item, error)) (messages []Message, err error) {
	b.round++
	for _, id := range living {
		p := b.peers[id]
		if p == nil {
			p = &peer{}
			b.peers[id] = p
		}
		if p.run != 0 && !p.begun {
			all, err := soFar()
			if err != nil {
				return messages, err
			}
			p.begun, p.since = true, b.round
			for _, it := range all {
				it.Spare = false
				p.put(it)
			}
		}
		m := message{Version: version, Run: b.run, To: p.run, Heard: p.heard, Floor: p.acked}
		b.fill(&m, p)
		if len(m.Items) > 0 || p.owes || p.run == 0 {
			p.owes = false
			messages = append(messages, Message{id, wire.Encode(m)})
		}
	}
	return messages, nil
}

// fill takes the next items of a peer's queue into a message.
func (b *Broadcast) fill(m *message, p *peer) {
	p.clean()
	m.Floor = p.acked
	if p.sent > p.acked && b.round-p.since >= patience {
		p.sent = p.acked
	}
	p.sent = max(p.sent, p.acked)
	if p.sent == p.acked {
		p.since = b.round
	}
	m.After = p.sent
	size := 0
	for _, q := range p.queue[p.sent-p.acked:] {
		if size += len(q.Bytes); size > roundBytes && len(m.Items) > 0 || len(m.Items) == mostItems {
			break
		}
		m.Items = append(m.Items, q.item)
		p.sent++
	}
}

// clean drops what was left out from the front of a queue.
func (p *peer) clean() {
	for len(p.queue) > 0 && p.queue[0].Bytes == nil {
		p.queue = p.queue[1:]
		p.acked++
	}
}
