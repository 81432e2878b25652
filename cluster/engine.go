package cluster

import "time"

// An Engine is the crawler of one agent, as the protocol sees it. Its methods are called by
// the goroutine of Agent.Run, one at a time, and must not wait for long; what takes longer is
// begun, and its end said to the Agent.
type Engine interface {
	// Recover returns what the store has of the links across. It is called once, first.
	Recover() (Recovered, error)
	// Report says how the crawl goes. It is of one moment.
	Report() Report
	// Own says which partitions came, and which went to others without having been let go.
	// URLs of those that wait, and that the next owner may not know of since they are not in
	// the replica, are to go into the outbox: the pages that led to them are here and will
	// not be read again. What was let go has passed when the next owner has it all. Before each request the engine still asks Agent.May.
	Own(gained []Holding, lost, passed []Partition)
	// Release wants a partition let go: begin nothing new there, wait for what is in flight,
	// commit, send the partition's state on, and say so by Agent.Released.
	Release(p Partition, epoch uint64)
	// Outbox returns the partition's parcels with numbers above after, in order, of about so
	// many bytes together, and at least one if there is one.
	Outbox(p Partition, after uint64, bytes int) ([]Parcel, error)
	// Trim says that the parcels up to a number are committed by their receiver.
	Trim(p Partition, upto uint64)
	// Take wants parcels taken in, in one commit with the cursor, Delivery.Last, and in the
	// order given. When that is durable, also in the replica, Agent.Taken hears of it. Refuse
	// what comes between the sending of a released partition's state and Agent.Released.
	Take(d Delivery)
	// Allow says how many pages the store may have in all, those in flight among them, and
	// the priority below which no link is to be taken; -Inf allows any. Both may fall.
	Allow(pages int64, price float64)
	// Keeper says who has the replica from now on, "" when nobody can: the others are dead.
	Keeper(id AgentID)
	// Outlive says that an agent is no more whose replica is here: what waits in its outbox is
	// to be sent on. Own, for its partitions, comes before it.
	Outlive(id AgentID)
	// Hear takes in what another agent's engine said by Agent.Tell. It may come twice, late,
	// out of order, or not at all.
	Hear(from AgentID, told []byte)
	// End says that the crawl has ended, and why (Ended…).
	End(why string)
}

// Why a crawl of several agents ended.
const (
	EndedEmpty   = "empty"       // nothing waits anywhere
	EndedPages   = "max pages"   // the budget is spent
	EndedHarvest = "min harvest" // the next pages are worth too little
)

// Holding is a partition that an agent came to own. Each of its hosts rests first: Wait, and
// then its delay.
type Holding struct {
	Partition Partition
	Epoch     uint64
	From      AgentID       // whose state of it is to be gone on from; the agent itself after a restart
	Taken     bool          // From did not let go: it may be dead, and its outbox is to be sent too
	Wait      time.Duration // what From began may last so long
}

// Parcel is links of a page to sites of one partition, in a form that engines know, and at most
// 128 KiB of it. What is longer, engines cut.
type Parcel struct {
	_      struct{} `cbor:",toarray"`
	Number uint64   // rises in a store, from 1
	Bytes  []byte   `most:"262144"`
}

// Delivery is parcels for a partition that the agent owns.
type Delivery struct {
	From      AgentID
	Partition Partition
	Epoch     uint64
	Last      uint64 // number of the last one: the cursor of From and Partition
	Parcels   []Parcel
}

// Recovered is what an agent that starts again has in its store.
type Recovered struct {
	Known   uint64               // the highest epoch of a Holding
	Held    map[Partition]uint64 // gained, and neither lost nor passed, with their epochs
	Cursors map[Stream]uint64    // by whom and what it came from
	Past    map[Partition]uint64 // lost or passed, with the last epoch; the state is still there
	Outbox  map[Partition]Span   // parcels that wait for their receivers
}

// Stream is parcels of an agent to a partition.
type Stream struct {
	From      AgentID
	Partition Partition
}

// Span is the numbers of a partition's parcels in the outbox, both ends among them.
type Span struct{ First, Last uint64 }

// Report is how an agent's part of the crawl goes.
type Report struct {
	_        struct{} `cbor:",toarray"`
	Pages    int64    // in the store
	Relevant int64    // of them
	Requests int64
	Waiting  int64     // URLs that could be fetched now or later, of the partitions owned
	InFlight int64     // fetches begun and not committed
	Outbox   int64     // parcels not yet trimmed
	Moves    uint64    // rises with each fetch begun, commit, parcel queued and delivery taken
	Allowed  int64     // the last that Allow said
	Epoch    uint64    // what was gained up to it has been gone on from: it is in the store
	Workers  int       // fetches that can go on at once
	Rate     float64   // pages a second
	Pace     float64   // requests a second, if all workers had something to do; 0: not known yet
	Head     []float64 // priorities, of any sign, of the links that can be taken within a lease, falling; at most 64
	Each     float64   // how many links one of Head stands for; 0 is 1
	Lost     int64     // pages that died with another agent, of sites that are this one's
	Best     []Best    // what waits, whatever its hosts do; at most 16, priorities falling
}

// Best says that so many links, of so many hosts or addresses, have a priority at least.
type Best struct {
	_        struct{} `cbor:",toarray"`
	Links    int
	Parties  int
	Priority float64
}

// idle says that nothing will happen by itself.
func (r Report) idle() bool { return r.Waiting == 0 && r.InFlight == 0 && r.Outbox == 0 }
