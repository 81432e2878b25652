package cluster

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"
)

// errTwice reports that another process uses the same AgentID.
var errTwice = errors.New("another process has this agent's name; each needs a store of its own")

// Keys of the exchange's table.
const (
	tableKey  = "table"
	budgetKey = "budget"
	agentKeys = "agent." // and the AgentID
)

// defaultLease is Protocol.Lease where it is not set.
const defaultLease = 10 * time.Second

// Protocol holds the settings by which an agent takes part. Only ID is needed.
type Protocol struct {
	ID           AgentID
	Lease        time.Duration // how long an agent that falls silent may go on [10 s]
	Grace        time.Duration // how much longer its partitions wait for it to come back
	Longest      time.Duration // the longest exchange with a host [one minute]
	Resend       time.Duration // pause before parcels are sent again [2 s]
	Fresh        bool          // the exchange began with these agents, so nobody owned or fetched anything just before
	Prefers      bool          // takes the coordinator's role from an agent that does not prefer it
	MaxPages     int64         // of the whole crawl [no end]
	MinHarvest   float64       // end when the next pages are surely worth less [never]
	HarvestPages int64         // how many of the last pages MinHarvest is judged by [1,000]

	// price returns, from the reports of all agents, the priority below which agents skip links
	// because better ones wait; -Inf when they skip none. Nil: agents never skip links.
	price    func(all []report) float64
	parts    int    // partitions; 0: partitions
	ofSender int    // deliveries; 0: mostOfSender
	defect   defect // of tests
}

// defect is a mistake that a test makes on purpose, to see that the simulation finds it.
type defect int

const (
	sound        defect = iota
	noFence             // a lease does not end
	noEpoch             // messages of any epoch are taken and acknowledged
	trimOnSend          // sent parcels count as committed
	ackOnReceipt        // parcels are acknowledged before they are committed
	noRest              // partitions taken over are fetched from at once
	deadAreFree         // pages that the dead may still have are granted again
	returnsTwice        // pages given back count twice
)

func (o Protocol) withDefaults() Protocol {
	o.Lease = cmp.Or(o.Lease, defaultLease)
	o.Longest = cmp.Or(o.Longest, time.Minute)
	o.Resend = cmp.Or(o.Resend, 2*time.Second)
	o.HarvestPages = cmp.Or(o.HarvestPages, 1000)
	o.parts = cmp.Or(o.parts, partitions)
	o.ofSender = cmp.Or(o.ofSender, mostOfSender)
	return o
}

// Why a crawl of several agents ended.
const (
	endedEmpty   = "empty"       // nothing waits anywhere
	endedPages   = "max pages"   // the budget is spent
	endedHarvest = "min harvest" // the next pages are worth too little
)

// holding is a partition that an agent came to own. Each of its hosts rests first: Wait, and
// then its delay.
type holding struct {
	Partition partition
	Epoch     uint64
	From      AgentID       // the owner goes on from this agent's state; its own after a restart
	Taken     bool          // From did not release it: it may be dead, and its outbox must be sent too
	Wait      time.Duration // fetches that From began may last so long
}

// Parcel holds links of a page to sites of one partition, encoded by the engine in at most
// 128 KiB. Engines split longer lists.
type Parcel struct {
	_      struct{} `cbor:",toarray"`
	Number uint64   // rises in a store, from 1
	Bytes  []byte   `most:"262144"`
}

// delivery holds parcels for a partition that the agent owns.
type delivery struct {
	From      AgentID
	Partition partition
	Epoch     uint64
	Last      uint64 // number of the last parcel: the cursor of From and Partition
	Parcels   []Parcel
}

// recovered is what an agent finds in its store when it starts again.
type recovered struct {
	Known   uint64               // the highest epoch of a holding
	Held    map[partition]uint64 // gained, and neither lost nor passed, with their epochs
	Cursors map[stream]uint64    // by sender and partition
	Past    map[partition]uint64 // lost or passed, with the last epoch; the state is still there
	Outbox  map[partition]span   // parcels that wait for their receivers
}

// stream is the sequence of parcels from an agent to a partition.
type stream struct {
	From      AgentID
	Partition partition
}

// span is the range of numbers of a partition's parcels in the outbox, both ends included.
type span struct{ First, Last uint64 }

// report is the state of an agent's part of the crawl.
type report struct {
	_        struct{} `cbor:",toarray"`
	Pages    int64    // in the store
	Relevant int64    // of them
	Requests int64
	Waiting  int64     // URLs of owned partitions that could be fetched now or later
	InFlight int64     // fetches begun and not committed
	Outbox   int64     // parcels not yet trimmed
	Moves    uint64    // rises with each fetch begun, commit, parcel queued and delivery taken
	Allowed  int64     // the last limit that the engine was given
	Epoch    uint64    // the store has the state of all partitions gained up to it
	Workers  int       // fetches that can go on at once
	Rate     float64   // pages a second
	Pace     float64   // requests a second, if all workers had something to do; 0: not known yet
	Head     []float64 // priorities of the links that can be taken within a lease, falling; at most 64
	Each     float64   // how many links one of Head stands for; 0 is 1
	Lost     int64     // pages of this agent's sites that died with another agent
	Best     []Best    // links that wait, whatever their hosts do; at most 16, priorities falling
}

// Best counts the links, and their hosts or addresses, that have at least a priority.
type Best struct {
	_        struct{} `cbor:",toarray"`
	Links    int
	Parties  int
	Priority float64
}

// idle says that nothing will happen by itself.
func (r report) idle() bool { return r.Waiting == 0 && r.InFlight == 0 && r.Outbox == 0 }

// Events tell a node what happened. Each comes with the node's own time, which never goes back.
type (
	tickEvent   struct{ report report }           // time went by
	valuesEvent struct{ values map[string]Value } // the answer to askValues; nil when that failed
	swapEvent   struct {                          // the answer to swapValue
		key      string
		revision uint64 // 0: refused, or not known
	}
	messageEvent struct{ bytes []byte }
	queuedEvent  struct { // the outbox reaches up to a parcel
		partition partition
		number    uint64
	}
	outgoingEvent struct { // the answer to readOutbox
		partition partition
		after     uint64
		parcels   []Parcel
	}
	takenEvent struct { // the answer to takeParcels
		delivery delivery
		ok       bool // durable, together with its cursor; else dropped
	}
	releasedEvent struct { // the answer to releasePartition
		partition partition
		epoch     uint64
	}
	leaveEvent struct{} // the agent is to leave for good
)

// Effects are the actions that a node asks for.
type (
	sendMessage struct {
		to    AgentID
		bytes []byte
	}
	swapValue struct { // → swapEvent
		key      string
		value    []byte
		revision uint64
	}
	askValues struct{ keys []string } // of all keys, where there are none → valuesEvent
	// ownChanged names the partitions gained, lost to others without a release, and passed: the
	// next owner has the whole state. Waiting URLs of lost partitions that are not in the
	// replica go into the outbox: the next owner may not know them, and the pages that link to
	// them are in this store and will not be read again.
	ownChanged struct {
		gained []holding
		lost   []partition
		passed []partition
	}
	// releasePartition asks the engine to begin nothing new there, wait for fetches in flight,
	// commit, and send the partition's state on → releasedEvent
	releasePartition struct {
		partition partition
		epoch     uint64
	}
	readOutbox struct { // → outgoingEvent
		partition partition
		after     uint64
		bytes     int // about so many, and at least one parcel if there is one
	}
	takeParcels struct{ delivery delivery } // → takenEvent, once it is durable, also in the replica
	trimOutbox  struct {                    // the receiver has committed the parcels
		partition partition
		upto      uint64
	}
	allowPages struct { // in flight included; both limits may fall
		pages int64
		price float64 // no link of a lower priority is fetched; -Inf: all are
	}
	keeperNamed struct{ id AgentID } // who has this agent's replica; "" if all others are dead
	keptDied    struct{ id AgentID } // an agent whose replica is here
	hearEngine  struct {             // it may come twice, late, out of order, or not at all
		from AgentID
		told []byte
	}
	endCrawl struct{ why string }
	left     struct{}               // nothing is owned and nothing waits to be sent
	stop     struct{ reason error } // the protocol cannot go on here
)

type event any
type effect any

// node is the protocol of one agent as a state machine: an event and a time in, effects out.
// It has no goroutine, no clock and no network.
type node struct {
	opt    Protocol
	report report
	known  uint64 // the newest table ever seen, or recorded in the store

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

func newNode(opt Protocol, r recovered) *node {
	opt = opt.withDefaults()
	n := &node{opt: opt, known: r.Known}
	n.lease.every = opt.Lease / 3
	n.sight.others = map[AgentID]*other{}
	n.hand.held, n.hand.released = map[partition]held{}, map[partition]uint64{}
	n.hand.open, n.hand.past = map[partition]uint64{}, map[partition]uint64{}
	maps.Copy(n.hand.open, r.Held)
	maps.Copy(n.hand.past, r.Past)
	maps.Copy(n.hand.past, r.Held)
	n.office.fencing = map[AgentID]bool{}
	n.out = newOutgoing(r.Outbox, opt.share(1))
	n.in = newIncoming(r.Cursors)
	return n
}

// step takes in an event at a time since the node's start, and returns the effects in order.
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
		n.released(ev)
	case leaveEvent:
		n.leaving = true
		n.lease.soon()
	}
	n.askSometimes(now)
	if news { // about agents; events about links are far more frequent
		n.coordinate(now)
		n.releaseRested(now)
	}
	if tick { // a heartbeat carries a report of now
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
func (n *node) may(now time.Duration, p partition) (epoch uint64, ok bool) {
	h, ok := n.hand.held[p]
	return h.epoch, ok && !h.releasing && n.leased(now)
}

// ours says whether a link to a partition may go into the agent's own store: others know that
// it has the partition's state, so the next owner will go on from that. Until then links are
// parcels to the agent itself.
func (n *node) ours(p partition) bool {
	h, ok := n.hand.held[p]
	return ok && h.epoch <= n.lease.acked
}

// leased says whether others must count this agent as alive.
func (n *node) leased(now time.Duration) bool {
	return n.lease.joined && (now < n.lease.until || n.opt.defect == noFence)
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

// swapped takes in how a swap ended. If the result is not known, the next reading tells.
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

// hear takes in a message. It ignores one that it cannot read.
func (n *node) hear(now time.Duration, b []byte) {
	m, err := decodeMessage(b)
	if err != nil || int(m.Partition) >= n.opt.parts {
		return
	}
	_, in := n.hand.members()[m.From]
	switch {
	case m.Kind == kindLinks && in:
		n.receive(now, m)
	case m.Kind == kindAck:
		n.acknowledged(now, m)
	case m.Kind == kindRefusal && m.After > n.hand.version():
		n.sight.next, n.sight.newer = now, max(n.sight.newer, m.After)
	case m.Kind == kindTold && in: // others say it again once the table has them
		n.do(hearEngine{m.From, m.Parcels[0].Bytes})
	}
}

// leaveWhenDone ends a leaving agent's part once others need nothing more of it.
func (n *node) leaveWhenDone(now time.Duration) {
	if !n.leaving || n.hand.table == nil || n.report.Outbox > 0 || n.lease.last.Report.Outbox > 0 || n.lease.pending || !n.leased(now) {
		return
	}
	owns := func(e entry) bool { return e.owner == n.opt.ID || e.next == n.opt.ID }
	if n.onlyOne(now) || !slices.ContainsFunc(n.hand.table.entries, owns) {
		n.do(left{})
	}
}

// due returns when the next tick is needed.
func (n *node) due(now time.Duration) time.Duration {
	due := now + n.lease.every/2
	if !n.sight.asking {
		due = min(due, n.sight.next)
	}
	if n.lease.joined && !n.lease.pending && !n.lease.unsure {
		due = min(due, n.lease.next)
	}
	return min(due, n.out.due())
}
