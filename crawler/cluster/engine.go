package cluster

import "time"

// An Engine is the crawler of one agent, as the protocol sees it. Its methods are called by
// the goroutine of Agent.Run, one at a time, and must not wait for long; what takes longer is
// begun, and its end reported to the Agent.
type Engine interface {
	// Recover returns the links to other partitions that the store holds. It is called once,
	// before all other methods.
	Recover() (Recovered, error)
	// Report returns the state of the crawl at one moment.
	Report() Report
	// Own says which partitions the agent gained, and which it lost to others without a
	// release. Waiting URLs of lost partitions that are not in the replica go into the outbox:
	// the next owner may not know them, and the pages that link to them are in this store and
	// will not be read again. A released partition has passed when the next owner has all of
	// it. Before each request the engine still calls Agent.May.
	Own(gained []Holding, lost, passed []Partition)
	// Release asks the engine to release a partition: begin nothing new there, wait for what is in flight,
	// commit, send the partition's state on, and say so by Agent.Released.
	Release(p Partition, epoch uint64)
	// Outbox returns the partition's parcels with numbers above after, in order, of about so
	// many bytes together, and at least one if there is one.
	Outbox(p Partition, after uint64, bytes int) ([]Parcel, error)
	// Trim says that the parcels up to a number are committed by their receiver.
	Trim(p Partition, upto uint64)
	// Take asks the engine to commit parcels in the order given, together with the cursor,
	// Delivery.Last. When the commit is durable, also in the replica, the engine calls
	// Agent.Taken.
	// Refuse what comes between the sending of a released partition's state and
	// Agent.Released.
	Take(d Delivery)
	// Allow sets how many pages the store may have in all, pages in flight included, and the
	// priority below which no link is fetched; -Inf allows any. Both may fall.
	Allow(pages int64, price float64)
	// Keeper names the agent that holds the replica from now on; "" if all others are dead.
	Keeper(id AgentID)
	// Outlive says that an agent is gone whose replica is here: the engine sends the parcels in
	// its outbox on. Own is called for its partitions before that.
	Outlive(id AgentID)
	// Hear receives a message that another agent's engine sent by Agent.Tell. A message may
	// come twice, late, out of order, or not at all.
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

// Parcel holds links of a page to sites of one partition, encoded by the engine in at most
// 128 KiB. Engines split longer lists.
type Parcel struct {
	_      struct{} `cbor:",toarray"`
	Number uint64   // rises in a store, from 1
	Bytes  []byte   `most:"262144"`
}

// Delivery holds parcels for a partition that the agent owns.
type Delivery struct {
	From      AgentID
	Partition Partition
	Epoch     uint64
	Last      uint64 // number of the last one: the cursor of From and Partition
	Parcels   []Parcel
}

// Recovered is what an agent finds in its store when it starts again.
type Recovered struct {
	Known   uint64               // the highest epoch of a Holding
	Held    map[Partition]uint64 // gained, and neither lost nor passed, with their epochs
	Cursors map[Stream]uint64    // by whom and what it came from
	Past    map[Partition]uint64 // lost or passed, with the last epoch; the state is still there
	Outbox  map[Partition]Span   // parcels that wait for their receivers
}

// Stream is the sequence of parcels from an agent to a partition.
type Stream struct {
	From      AgentID
	Partition Partition
}

// Span is the range of numbers of a partition's parcels in the outbox, both ends included.
type Span struct{ First, Last uint64 }

// Report is the state of an agent's part of the crawl.
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

// Best counts the links, and their hosts or addresses, that have at least a priority.
type Best struct {
	_        struct{} `cbor:",toarray"`
	Links    int
	Parties  int
	Priority float64
}

// idle says that nothing will happen by itself.
func (r Report) idle() bool { return r.Waiting == 0 && r.InFlight == 0 && r.Outbox == 0 }
