package cluster

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"

	"github.com/fxamacker/cbor/v2"

	"fossick/internal/wire"
)

// What is said and kept is CBOR: structs as arrays behind a version. An agent that meets
// another version ignores what it cannot read, so that agents of two versions share no crawl.
const wireVersion = 3

// Bounds of what is read.
const (
	mostMessageBytes = 256 << 10
	mostParcels      = 4096 // of one message
	mostHead         = 64   // priorities in a report
)

var (
	errWire = errors.New("not of this protocol")
	// errVersion is a heartbeat of another version. A table that cannot be read beside such
	// is that version's.
	errVersion = fmt.Errorf("%w: another version of fossick takes part; run the same version on all agents", errWire)
)

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

var decoding = wire.NewDecoder(mostParcels, 8)

// named matches the names of agents.
var named = regexp.MustCompile(`^[0-9A-Za-z_-]{1,32}$`)

// known says whether an agent can have such a name.
func (id AgentID) known() bool { return named.MatchString(string(id)) }

func decodeMessage(b []byte) (m message, err error) {
	if len(b) > 2*mostMessageBytes {
		return m, fmt.Errorf("message of %d bytes: %w", len(b), errWire)
	}
	if err := decoding.Unmarshal(b, &m); err != nil {
		return m, fmt.Errorf("message: %w: %w", errWire, err)
	}
	if m.Version != wireVersion || m.Partition >= partitions || m.Kind < kindLinks || m.Kind > kindTold || !m.From.known() || m.Kind == kindTold && len(m.Parcels) != 1 {
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

// versionOf returns the version of a list that begins with one, 0 of anything else.
func versionOf(b []byte) uint64 {
	var list []cbor.RawMessage
	var version uint64
	if cbor.Unmarshal(b, &list) != nil || len(list) == 0 || cbor.Unmarshal(list[0], &version) != nil {
		return 0
	}
	return version
}

func decodeHeartbeat(b []byte) (h heartbeat, err error) {
	if v := versionOf(b); v > 0 && v != wireVersion {
		return h, fmt.Errorf("heartbeat: %w: %d, not %d", errVersion, v, wireVersion)
	}
	if err := decoding.Unmarshal(b, &h); err != nil {
		return h, fmt.Errorf("heartbeat: %w: %w", errWire, err)
	}
	r := h.Report
	if h.Version != wireVersion || len(r.Head) > mostHead || len(r.Best) > mostHead || slices.ContainsFunc(r.Head, math.IsNaN) ||
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
		if n < 0 || !id.known() {
			return v, fmt.Errorf("budget: %d pages of %.40q: %w", n, id, errWire)
		}
	}
	return v, nil
}
