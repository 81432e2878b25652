package cluster

import "time"

// Events are what a node is told. Each comes with the node's own time, which never goes back.
type (
	tickEvent   struct{ report Report }           // time went by
	valuesEvent struct{ values map[string]Value } // asked for by askValues; nil when that failed
	swapEvent   struct {                          // a swapValue has ended
		key      string
		revision uint64 // 0: refused, or nobody knows
	}
	messageEvent struct{ bytes []byte }
	queuedEvent  struct { // the outbox reaches up to a parcel
		partition Partition
		number    uint64
	}
	outgoingEvent struct { // asked for by readOutbox
		partition Partition
		after     uint64
		parcels   []Parcel
	}
	takenEvent struct { // a takeParcels has ended
		delivery Delivery
		ok       bool // durably
	}
	releasedEvent struct { // asked for by releasePartition
		partition Partition
		epoch     uint64
	}
	leaveEvent struct{} // the agent is to go for ever
)

// Effects are what a node wants done.
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
	askValues  struct{ keys []string } // all, where there are none → valuesEvent
	ownChanged struct {
		gained []Holding
		lost   []Partition
		passed []Partition
	}
	releasePartition struct { // → releasedEvent
		partition Partition
		epoch     uint64
	}
	readOutbox struct { // → outgoingEvent
		partition Partition
		after     uint64
		bytes     int
	}
	takeParcels struct{ delivery Delivery } // → takenEvent
	trimOutbox  struct {
		partition Partition
		upto      uint64
	}
	allowPages struct {
		pages int64
		price float64
	}
	keeperNamed struct{ id AgentID }
	keptDied    struct{ id AgentID } // whose keeper this agent was
	hearEngine  struct {
		from AgentID
		told []byte
	}
	endCrawl struct{ why string }
	left     struct{}               // nothing is owned and nothing waits to be sent
	stop     struct{ reason error } // the protocol cannot go on here
)

type event any
type effect any

// Options are the settings of an agent.
type Options struct {
	ID           AgentID
	Lease        time.Duration // how long an agent that falls silent may go on; 0: 10 s
	Grace        time.Duration // how much longer its partitions wait for it to come back
	Longest      time.Duration // what one exchange with a host may last; 0: one minute
	Resend       time.Duration // pause before parcels are sent again; 0: 2 s
	Fresh        bool          // the exchange began with these agents, so nobody owned or fetched anything just before
	Prefers      bool          // takes the coordinator's role from an agent that does not prefer it
	MaxPages     int64         // of the whole crawl; 0: no end
	MinHarvest   float64       // end when the next pages are surely worth less; 0: never
	HarvestPages int64         // how many of the last pages that goes by; 0: 1,000
	// Price returns, from the reports of all agents, the priority below which agents skip links
	// because better ones wait; -Inf when they skip none. Nil: agents never skip links. One
	// goroutine calls it.
	Price func(all []Report) float64

	parts    int    // partitions; 0: partitions
	ofSender int    // deliveries; 0: mostOfSender
	plant    defect // of tests
}

// defect is a mistake that a test plants, to see that the simulation finds it.
type defect int

const (
	sound        defect = iota
	noFence             // a lease does not end
	noEpoch             // messages of any epoch are taken and acknowledged
	trimOnSend          // what is sent counts as committed
	ackOnReceipt        // parcels are acknowledged before they are committed
	noRest              // what was taken over is fetched from at once
	deadAreFree         // what the dead may still have is granted again
	returnsTwice        // pages given back count twice
)

// DefaultLease is Options.Lease where it is not set.
const DefaultLease = 10 * time.Second

func (o Options) withDefaults() Options {
	if o.Lease <= 0 {
		o.Lease = DefaultLease
	}
	if o.Longest <= 0 {
		o.Longest = time.Minute
	}
	if o.Resend <= 0 {
		o.Resend = 2 * time.Second
	}
	if o.HarvestPages <= 0 {
		o.HarvestPages = 1000
	}
	if o.parts == 0 {
		o.parts = partitions
	}
	if o.ofSender == 0 {
		o.ofSender = mostOfSender
	}
	return o
}
