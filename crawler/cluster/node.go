package cluster

import (
	"errors"
	"maps"
	"slices"
	"time"
)

// ErrTwice reports that another process uses the same AgentID.
var ErrTwice = errors.New("another process has this agent's name; each needs a store of its own")

// Keys of the exchange's table.
const (
	tableKey  = "table"
	budgetKey = "budget"
	agentKeys = "agent." // and the AgentID
)

// node is the protocol of one agent as a state machine: an event and a time in, effects out.
// It has no goroutine, no clock and no network.
type node struct {
	opt    Options
	report Report
	known  uint64 // the newest table ever seen, or that the store has heard of

	lease  lease
	sight  sight
	hand   hand
	office office
	ledger ledger
	out    outgoing
	in     incoming

	leaving bool
	ended   string
	effects []effect
}

func newNode(opt Options, r Recovered) *node {
	opt = opt.withDefaults()
	n := &node{opt: opt, known: r.Known}
	n.lease.every = opt.Lease / 3
	n.sight.others = map[AgentID]*other{}
	n.hand.held, n.hand.released = map[Partition]held{}, map[Partition]uint64{}
	n.hand.open = map[Partition]uint64{}
	maps.Copy(n.hand.open, r.Held)
	n.hand.past = map[Partition]uint64{}
	maps.Copy(n.hand.past, r.Past)
	maps.Copy(n.hand.past, r.Held)
	n.office.fencing = map[AgentID]bool{}
	n.out = newOutgoing(r.Outbox, opt.share(1))
	n.in = newIncoming(r.Cursors)
	return n
}

// step tells the node what happened at a time since its start, and returns what it wants
// done, in order.
func (n *node) step(now time.Duration, ev event) []effect {
	n.effects = nil
	tick, news := false, true
	switch ev := ev.(type) {
	case tickEvent:
		n.report, tick = ev.report, true
	case valuesEvent:
		n.look(now, ev.values)
	case swapEvent:
		n.swapped(now, ev)
	case messageEvent:
		news = false
		n.hear(now, ev.bytes)
	case queuedEvent:
		news = false
		n.out.queued(now, ev.partition, ev.number)
	case outgoingEvent:
		news = false
		n.sendParcels(now, ev)
	case takenEvent:
		news = false
		n.taken(now, ev)
	case releasedEvent:
		n.letGo(ev)
	case leaveEvent:
		n.leaving = true
		n.lease.soon()
	}
	n.askSometimes(now)
	if news { // of agents; there are many more of links
		coordinator{n}.coordinate(now)
		n.releaseRested(now)
	}
	if tick { // a heartbeat says how things are, not how they were
		n.beat(now)
	}
	n.sendDue(now)
	if tick {
		n.leaveWhenDone(now)
	}
	return n.effects
}

func (n *node) do(e effect) { n.effects = append(n.effects, e) }

// may says whether a fetch may begin in a partition, and under which epoch.
func (n *node) may(now time.Duration, p Partition) (epoch uint64, ok bool) {
	h, ok := n.hand.held[p]
	return h.epoch, ok && !h.releasing && n.leased(now)
}

// ours says whether a link to a partition may go into the agent's own store: others know that
// it has the partition's state, so the next owner will go on from that. Until then links are
// parcels, to the agent itself.
func (n *node) ours(p Partition) bool {
	h, ok := n.hand.held[p]
	return ok && h.epoch <= n.lease.heard
}

// leased says whether others are bound to hold this agent for alive.
func (n *node) leased(now time.Duration) bool {
	return n.lease.joined && (now < n.lease.until || n.opt.plant == noFence)
}

// look takes in the exchange's values.
func (n *node) look(now time.Duration, values map[string]Value) {
	asked := n.sight.asked
	n.sight.asking = false
	if values == nil {
		return
	}
	all := n.sight.keys == nil
	n.sight.looked, n.sight.all = true, all
	n.sight.everybody = n.sight.everybody && !(all && asked >= n.sight.since)
	n.office.unsure = n.office.unsure && asked <= n.office.failed
	n.ledger.unsure = n.ledger.unsure && asked <= n.ledger.failed
	n.sight.see(now, values)
	n.seeSelf(now, asked, values[agentKeys+string(n.opt.ID)])
	if n.office.pending == 0 && (all || slices.Contains(n.sight.keys, tableKey)) {
		n.seeTable(now, asked, values[tableKey])
	}
	n.settle()
	if v := values[budgetKey]; !n.ledger.pending {
		n.seeBudget(asked, v)
	}
}

// swapped takes in how a swap ended. What nobody knows is looked up.
func (n *node) swapped(now time.Duration, ev swapEvent) {
	switch {
	case ev.key == tableKey:
		n.tableWritten(now, ev.revision)
	case ev.key == budgetKey:
		n.budgetWritten(now, ev.revision)
	case ev.key == agentKeys+string(n.opt.ID):
		n.beaten(now, ev.revision)
	default:
		delete(n.office.fencing, AgentID(ev.key[len(agentKeys):]))
	}
	if ev.revision == 0 {
		n.sight.next = now
	}
}

// hear takes in a message. One that cannot be read is none.
func (n *node) hear(now time.Duration, b []byte) {
	m, err := decodeMessage(b)
	if err != nil || int(m.Partition) >= n.opt.parts {
		return
	}
	switch m.Kind {
	case kindLinks:
		if _, in := n.hand.members()[m.From]; in {
			n.receive(now, m)
		}
	case kindAck:
		n.acknowledged(now, m)
	case kindRefusal:
		if m.After > n.hand.version() {
			n.sight.next, n.sight.newer = now, max(n.sight.newer, m.After)
		}
	case kindTold:
		if _, in := n.hand.members()[m.From]; !in {
			return // it says it again once the table has it
		}
		n.do(hearEngine{m.From, m.Parcels[0].Bytes})
	}
}

// leaveWhenDone says that a leaving agent has nothing left that others need.
func (n *node) leaveWhenDone(now time.Duration) {
	if !n.leaving || n.hand.table == nil || n.report.Outbox > 0 || n.lease.last.Report.Outbox > 0 || n.lease.pending || !n.leased(now) {
		return
	}
	if n.onlyOne(now) {
		n.do(left{})
		return
	}
	for _, e := range n.hand.table.entries {
		if e.owner == n.opt.ID || e.next == n.opt.ID {
			return
		}
	}
	n.do(left{})
}
