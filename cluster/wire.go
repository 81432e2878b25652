package cluster

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/fxamacker/cbor/v2"
)

// What is said and kept is CBOR: structs as arrays behind a version. An agent that meets
// another version ignores what it cannot read, so that agents of two versions share no crawl.
const wireVersion = 3

// Bounds of what is read.
const (
	mostMessageBytes = 256 << 10
	mostParcels      = 4096 // of one message
	mostHead         = 64   // priorities in a report
	mostAgents       = 4096 // in a table or budget
)

var errWire = errors.New("not of this protocol")

// message is what agents send each other about a partition's parcels.
type message struct {
	_         struct{} `cbor:",toarray"`
	Version   uint64
	Kind      uint64
	From      AgentID
	Partition Partition
	Epoch     uint64   // of the partition as the sender knows it
	Base      uint64   // links: what some owner has committed, and all before
	After     uint64   // links: the parcel before the first; ack: the last committed; refusal: the table's version
	Parcels   []Parcel // links: without a gap, rising
}

// Kinds of messages.
const (
	kindLinks   = 1
	kindAck     = 2
	kindRefusal = 3
	kindTold    = 4 // one parcel: what an engine tells another
)

// heartbeat is the value of an agent's key.
type heartbeat struct {
	_           struct{} `cbor:",toarray"`
	Version     uint64
	Incarnation uint64 // rises when the process starts anew, or was held for dead
	Seq         uint64 // rises with each heartbeat
	Dead        bool   // written by others
	Leaving     bool
	Prefers     bool      // the coordinator's role
	Known       uint64    // the newest table that the agent has seen, ever
	Released    []release // what it let go and the table still has as its own
	Held        []release // while there is no table: what the agent ever owned
	Returned    int64     // of the pages granted to it, those that it gave back
	Report      Report
}

// release is a partition that was held, or let go.
type release struct {
	_         struct{} `cbor:",toarray"`
	Partition Partition
	Epoch     uint64
}

// budgetValue is the value of the budget's key.
type budgetValue struct {
	_       struct{} `cbor:",toarray"`
	Version uint64
	Ended   string  // why the crawl has ended; empty while it goes on
	Price   float64 // the priority below which no link is worth taking now; -Inf: any is
	Grants  map[AgentID]int64
	Plenty  bool // so much is left that nobody has to give anything back
}

var (
	encoding = must(cbor.CoreDetEncOptions().EncMode())
	decoding = must(cbor.DecOptions{
		DupMapKey: cbor.DupMapKeyEnforcedAPF, IndefLength: cbor.IndefLengthForbidden,
		TagsMd: cbor.TagsForbidden, MaxArrayElements: mostParcels, MaxMapPairs: mostAgents, MaxNestedLevels: 8,
	}.DecMode())
)

func must[M any](mode M, err error) M {
	if err != nil {
		panic(err) // the options above are not of this version of the library
	}
	return mode
}

// encode returns a value's bytes. Nothing that the protocol says can fail to be written.
func encode(v any) []byte {
	b, err := encoding.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("cluster: %T: %v", v, err))
	}
	return b
}

func decodeMessage(b []byte) (m message, err error) {
	if len(b) > 2*mostMessageBytes {
		return m, fmt.Errorf("message of %d bytes: %w", len(b), errWire)
	}
	if err := decoding.Unmarshal(b, &m); err != nil {
		return m, fmt.Errorf("message: %w: %w", errWire, err)
	}
	if m.Version != wireVersion || m.Partition >= partitions || m.Kind < kindLinks || m.Kind > kindTold || m.Kind == kindTold && len(m.Parcels) != 1 {
		return m, fmt.Errorf("message of version %d, kind %d: %w", m.Version, m.Kind, errWire)
	}
	last := m.After
	for _, p := range m.Parcels {
		if p.Number <= last {
			return m, fmt.Errorf("message: parcel %d after %d: %w", p.Number, last, errWire)
		}
		last = p.Number
	}
	return m, nil
}

func decodeHeartbeat(b []byte) (h heartbeat, err error) {
	if err := decoding.Unmarshal(b, &h); err != nil {
		return h, fmt.Errorf("heartbeat: %w: %w", errWire, err)
	}
	r := h.Report
	if h.Version != wireVersion || len(r.Head) > mostHead || slices.ContainsFunc(r.Head, math.IsNaN) ||
		slices.ContainsFunc(r.Best, func(b Best) bool { return math.IsNaN(b.Priority) }) || len(h.Released) > partitions || len(h.Held) > partitions || h.Returned < 0 ||
		min(r.Pages, r.Relevant, r.Requests, r.Waiting, r.InFlight, r.Outbox, r.Allowed, r.Lost) < 0 || r.Workers < 0 {
		return h, fmt.Errorf("heartbeat of version %d: %w", h.Version, errWire)
	}
	return h, nil
}

func decodeBudget(b []byte) (v budgetValue, err error) {
	if err := decoding.Unmarshal(b, &v); err != nil {
		return v, fmt.Errorf("budget: %w: %w", errWire, err)
	}
	if v.Version != wireVersion || math.IsNaN(v.Price) {
		return v, fmt.Errorf("budget of version %d at the price %g: %w", v.Version, v.Price, errWire)
	}
	for id, n := range v.Grants {
		if n < 0 {
			return v, fmt.Errorf("budget: %d pages of %s: %w", n, id, errWire)
		}
	}
	return v, nil
}
