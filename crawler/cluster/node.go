package cluster

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"
)

var errTwice = errors.New("another process has this agent's name; each needs a store of its own")

// Keys of values in the exchange.
const (
	tableKey  = "table"
	budgetKey = "budget"
	agentKeys = "agent." // followed by the AgentID
)

const defaultLease = 10 * time.Second

// Protocol holds an agent's protocol settings. Only ID is required.
type Protocol struct {
	ID      AgentID
	Lease   time.Duration // how long an agent without an accepted heartbeat may go on [10 s]
	Grace   time.Duration // how much longer a dead agent's partitions wait for its return
	Longest time.Duration // longest duration of one fetch [one minute]
	Resend  time.Duration // pause before parcels are sent again [2 s]
	Fresh   bool          // the exchange is new, so nobody owned or fetched anything just before
	Prefers bool
	Place   string // machine and store, as people name them; cut after 200 bytes

	maxPages     int64   // of the whole crawl [no limit]
	minHarvest   float64 // end when the harvest of the last pages is surely lower [never]
	harvestPages int64   // how many of the last pages minHarvest judges [1,000]
	// price returns, from all reports, the priority below which agents skip links; nil: -Inf.
	price    func(all []report) float64
	parts    int    // number of partitions [partitions]
	ofSender int    // most uncommitted deliveries of one sender [mostOfSender]
	defect   defect // for tests
}

// defect is a deliberate mistake, with which a test checks that the simulation finds it.
type defect int

const (
	sound        defect = iota
	noFence             // leases never expire
	noEpoch             // messages of any epoch are accepted and acknowledged
	trimOnSend          // parcels count as committed once sent
	ackOnReceipt        // parcels are acknowledged before they are committed
	noRest              // partitions taken over do not rest before their first fetch
	deadAreFree         // pages that dead agents may still have are granted again
	returnsTwice        // returned pages count twice
)

func (o Protocol) withDefaults() Protocol {
	o.Lease = cmp.Or(o.Lease, defaultLease)
	o.Place = strings.ToValidUTF8(o.Place[:min(len(o.Place), mostPlace)], "")
	o.Longest = cmp.Or(o.Longest, time.Minute)
	o.Resend = cmp.Or(o.Resend, 2*time.Second)
	o.harvestPages = cmp.Or(o.harvestPages, 1000)
	o.parts = cmp.Or(o.parts, partitions)
	o.ofSender = cmp.Or(o.ofSender, mostOfSender)
	return o
}

const (
	endedEmpty   = "empty" // no URL waits at any agent
	endedPages   = "max pages"
	endedHarvest = "min harvest"
)

// holding is a partition that an agent came to own. Its hosts rest for Wait, and then their
// delay.
type holding struct {
	Partition partition
	Epoch     uint64
	From      AgentID       // the agent whose state the owner continues; the owner itself after a restart
	Taken     bool          // From did not release it and may be dead, so its outbox must be sent too
	Wait      time.Duration // how long fetches begun by From may still run
}

// Parcel holds a page's links to one partition, at most 128 KiB; engines split longer lists.
type Parcel struct {
	_      struct{} `cbor:",toarray"`
	Number uint64   // rises in a store, from 1
	Bytes  []byte   `most:"262144"`
}

type delivery struct {
	From      AgentID
	Partition partition
	Epoch     uint64
	Last      uint64 // number of the last parcel: the new cursor of From and Partition
	Parcels   []Parcel
}

// recovered is the protocol state that an agent finds in its store at a start.
type recovered struct {
	Known   uint64               // the highest epoch of any holding
	Held    map[partition]uint64 // partitions gained and not given up, with their epochs
	Cursors map[stream]uint64
	Past    map[partition]uint64 // partitions given up, with their last epochs; their state is still stored
	Outbox  map[partition]span   // parcels not yet trimmed
}

// stream identifies the sequence of parcels from an agent to a partition.
type stream struct {
	From      AgentID
	Partition partition
}

// span is an inclusive range of parcel numbers of one partition in the outbox.
type span struct{ First, Last uint64 }

type report struct {
	_        struct{} `cbor:",toarray"`
	Pages    int64    // in the store
	Relevant int64    // on-topic pages among them
	Requests int64
	Waiting  int64 // URLs of owned partitions that can be fetched now or later
	InFlight int64
	Outbox   int64  // parcels not yet trimmed
	Moves    uint64 // rises with each fetch begun, commit, parcel queued and delivery committed
	Allowed  int64  // the last page limit that the engine received
	Epoch    uint64 // the store has the state of all partitions gained up to this epoch
	Workers  int
	Rate     float64
	Pace     float64       // requests a second with all workers busy; 0: not known yet
	Head     []float64     // priorities of links that can be fetched within a lease, descending; at most 64
	Each     float64       // how many links each entry of Head stands for; 0 means 1
	Lost     int64         // pages of this agent's sites that died with another agent
	Best     []surveyPoint // waiting links, whether or not their hosts rest; at most 16, priorities descending
}

// surveyPoint counts the waiting links of at least a priority, and their parties (hosts or addresses).
type surveyPoint struct {
	_        struct{} `cbor:",toarray"`
	Links    int
	Parties  int
	Priority float64
}

// idle reports whether nothing will happen here without a message from outside.
func (r report) idle() bool { return r.Waiting == 0 && r.InFlight == 0 && r.Outbox == 0 }

// Events tell a node what happened. Each comes with the node's own time, which never goes back.
type (
	tickEvent   struct{ report report }
	valuesEvent struct{ values map[string]Value } // answers askValues; nil: the reading failed
	swapEvent   struct {                          // answers swapValue
		key      string
		revision uint64 // 0: refused, or the result is unknown
	}
	messageEvent struct{ bytes []byte }
	queuedEvent  struct { // the outbox now ends with this parcel
		partition partition
		number    uint64
	}
	outgoingEvent struct { // answers readOutbox
		partition partition
		after     uint64
		parcels   []Parcel
	}
	takenEvent struct { // answers takeParcels
		delivery delivery
		ok       bool // durable together with its cursor; otherwise dropped
	}
	releasedEvent struct { // answers releasePartition
		partition partition
		epoch     uint64
	}
	leaveEvent struct{} // the agent shall leave for good
)

type (
	sendMessage struct {
		to    AgentID
		bytes []byte
	}
	swapValue struct { // answered by swapEvent
		key      string
		value    []byte
		revision uint64
	}
	askValues struct{ keys []string } // no keys: all of them; answered by valuesEvent
	// ownChanged lists partitions gained, lost without a release, and passed on with their state.
	// Waiting URLs of lost ones that are not in the replica go into the outbox: the next owner
	// may not know them, and nobody will read again the pages that link to them.
	ownChanged struct {
		gained []holding
		lost   []partition
		passed []partition
	}
	// releasePartition asks the engine to start no more fetches there, wait for those in flight,
	// commit, and send the partition's state on. releasedEvent answers.
	releasePartition struct {
		partition partition
		epoch     uint64
	}
	readOutbox struct { // answered by outgoingEvent
		partition partition
		after     uint64
		bytes     int // approximate size; at least one parcel is read if there is one
	}
	takeParcels struct{ delivery delivery } // answered by takenEvent once durable, in the replica too
	trimOutbox  struct {                    // the receiver has committed the parcels up to upto
		partition partition
		upto      uint64
	}
	allowPages struct { // pages includes those in flight; both limits may fall
		pages int64
		price float64 // no link of lower priority is fetched; -Inf: all are
	}
	keeperNamed      struct{ id AgentID } // keeper of this agent's replica; "" if all other agents are dead
	replicaOwnerDied struct{ id AgentID } // an agent whose replica is stored here
	engineMessage    struct {             // may come twice, late, out of order, or not at all
		from  AgentID
		bytes []byte
	}
	endCrawl struct{ why string }
	left     struct{}
	stop     struct{ reason error }
)

type event any
type effect any

// node is one agent's protocol as a state machine: events with times in, effects out.
type node struct {
	opt    Protocol
	report report
	known  uint64 // newest table version ever seen or recorded in the store

	lease  lease
	view   view
	owned  ownership
	coord  coordination
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
	n.view.others = map[AgentID]*other{}
	n.owned.parts, n.owned.released = map[partition]ownedPart{}, map[partition]uint64{}
	n.owned.open, n.owned.past = map[partition]uint64{}, map[partition]uint64{}
	maps.Copy(n.owned.open, r.Held)
	maps.Copy(n.owned.past, r.Past)
	maps.Copy(n.owned.past, r.Held)
	n.coord.fencing = map[AgentID]bool{}
	n.out = newOutgoing(r.Outbox, opt.share(1))
	n.in = newIncoming(r.Cursors)
	return n
}

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
		n.handle(now, ev.bytes)
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
	if news { // only after events about agents: events about links are far more frequent
		n.coordinate(now)
		n.releaseRested(now)
	}
	if tick { // only now is the report for the heartbeat up to date
		n.beat(now)
	}
	n.sendDue(now)
	if tick {
		n.leaveWhenDone(now)
	}
	return n.effects
}

func (n *node) do(e effect) { n.effects = append(n.effects, e) }

// may reports whether a fetch may begin in a partition, and the partition's epoch.
func (n *node) may(now time.Duration, p partition) (epoch uint64, ok bool) {
	h, ok := n.owned.parts[p]
	return h.epoch, ok && !h.releasing && n.leased(now)
}

// ours reports whether a link to a partition may go into the agent's own store. It may once
// others know that this agent has the partition's state, since the next owner will continue from
// it. Until then the agent sends such links to itself as parcels.
func (n *node) ours(p partition) bool {
	h, ok := n.owned.parts[p]
	return ok && h.epoch <= n.lease.acked
}

func (n *node) leased(now time.Duration) bool {
	return n.lease.joined && (now < n.lease.until || n.opt.defect == noFence)
}

func (n *node) look(now time.Duration, values map[string]Value) {
	asked := n.view.asked
	n.view.asking = false
	if values == nil {
		return
	}
	all := n.view.keys == nil
	n.view.looked, n.view.all = true, all
	n.view.everybody = n.view.everybody && !(all && asked >= n.view.since)
	n.coord.unsure = n.coord.unsure && asked <= n.coord.failed
	n.ledger.unsure = n.ledger.unsure && asked <= n.ledger.failed
	n.view.see(now, values)
	n.seeSelf(now, asked, values[agentKeys+string(n.opt.ID)])
	if n.coord.pending == 0 && (all || slices.Contains(n.view.keys, tableKey)) {
		n.seeTable(now, asked, values[tableKey])
	}
	n.settle()
	if v := values[budgetKey]; !n.ledger.pending {
		n.seeBudget(asked, v)
	}
}

// swapped handles the result of a swap. An unknown result is settled by the next reading.
func (n *node) swapped(now time.Duration, ev swapEvent) {
	switch {
	case ev.key == tableKey:
		n.tableWritten(now, ev.revision)
	case ev.key == budgetKey:
		n.budgetWritten(now, ev.revision)
	case ev.key == agentKeys+string(n.opt.ID):
		n.beaten(now, ev.revision)
	default:
		delete(n.coord.fencing, AgentID(ev.key[len(agentKeys):]))
	}
	if ev.revision == 0 {
		n.view.next = now
	}
}

// handle takes a message, and ignores an unreadable one.
func (n *node) handle(now time.Duration, b []byte) {
	m, err := decodeMessage(b)
	if err != nil || int(m.Partition) >= n.opt.parts {
		return
	}
	_, in := n.owned.members()[m.From]
	switch {
	case m.Kind == kindLinks && in:
		n.receive(now, m)
	case m.Kind == kindAck:
		n.acknowledged(now, m)
	case m.Kind == kindRefusal && m.After > n.owned.version():
		n.view.next, n.view.newer = now, max(n.view.newer, m.After)
	case m.Kind == kindEngine && in: // senders repeat it once the table names them
		n.do(engineMessage{m.From, m.Parcels[0].Bytes})
	}
}

// leaveWhenDone ends a leaving agent's part once the others need nothing more from it.
func (n *node) leaveWhenDone(now time.Duration) {
	if !n.leaving || n.owned.table == nil || n.report.Outbox > 0 || n.lease.last.Report.Outbox > 0 || n.lease.pending || !n.leased(now) {
		return
	}
	owns := func(e entry) bool { return e.owner == n.opt.ID || e.next == n.opt.ID }
	if n.onlyOne(now) || !slices.ContainsFunc(n.owned.table.entries, owns) {
		n.do(left{})
	}
}

func (n *node) due(now time.Duration) time.Duration {
	due := now + n.lease.every/2
	if !n.view.asking {
		due = min(due, n.view.next)
	}
	if n.lease.joined && !n.lease.pending && !n.lease.unsure {
		due = min(due, n.lease.next)
	}
	return min(due, n.out.due())
}
