package cluster

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/fxamacker/cbor/v2"

	"fossick/internal/wire"
)

// Messages and values are CBOR arrays that begin with a version; agents ignore other versions.
const wireVersion = 5

const (
	mostPlace        = 200
	mostMessageBytes = 256 << 10
	mostParcels      = 4096 // of one message
	mostHead         = 64   // priorities in a report
)

var (
	errWire = errors.New("not of this protocol")
	// errVersion reports a heartbeat of another version, which explains an unreadable table.
	errVersion = fmt.Errorf("%w: another version of fossick takes part; run the same version on all agents", errWire)
)

var decoding = wire.NewDecoder(1<<17, 8)

// decode reads input from another machine; `most` tags bound its fields.
func decode[T any](name string, b []byte) (v T, err error) {
	if err := decoding.Unmarshal(b, &v); err != nil {
		return v, fmt.Errorf("%s: %w: %w", name, errWire, err)
	}
	return v, nil
}

// message goes from agent to agent. All kinds but kindEngine concern one partition.
type message struct {
	_         struct{} `cbor:",toarray"`
	Version   uint64
	Kind      uint64
	From      AgentID
	Partition partition
	Epoch     uint64   // the partition's, as the sender knows it
	Base      uint64   // links: an owner has committed all parcels up to this one
	After     uint64   // links: the parcel before the first; ack: the last committed; refusal: the table's version
	Parcels   []Parcel // links: numbers ascend without a gap
}

const (
	kindLinks   = 1
	kindAck     = 2
	kindRefusal = 3
	kindEngine  = 4 // one parcel with a message to the other engine
)

type heartbeat struct {
	_           struct{} `cbor:",toarray"`
	Version     uint64
	Incarnation uint64 // rises when the process starts again, or was marked as dead
	Seq         uint64
	Dead        bool // written by the coordinator
	Leaving     bool
	Prefers     bool
	Known       uint64    // newest table that the agent has ever seen
	Released    []release // released partitions that the table still assigns to the agent
	Held        []release // only without a table: every partition that the agent ever owned
	Returned    int64     // granted pages that the agent gave back
	Report      report
	Place       string `most:"200"` // see Protocol
}

// release names a partition in an epoch.
type release struct {
	_         struct{} `cbor:",toarray"`
	Partition partition
	Epoch     uint64
}

type budgetValue struct {
	_       struct{} `cbor:",toarray"`
	Version uint64
	Ended   string  // why the crawl ended; empty while it runs
	Price   float64 // links of lower priority are not fetched now; -Inf: all may be
	Grants  map[AgentID]int64
	Plenty  bool // enough pages are left that no agent need return any
}

func decodeMessage(b []byte) (m message, err error) {
	if len(b) > 2*mostMessageBytes {
		return m, fmt.Errorf("message of %d bytes: %w", len(b), errWire)
	}
	if m, err = decode[message]("message", b); err != nil {
		return m, err
	}
	if m.Version != wireVersion || m.Partition >= partitions || m.Kind < kindLinks || m.Kind > kindEngine || m.From.Check() != nil || m.Kind == kindEngine && len(m.Parcels) != 1 {
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

// versionOf returns the version at the head of an array; 0 for anything else.
func versionOf(b []byte) (version uint64) {
	var list []cbor.RawMessage
	if cbor.Unmarshal(b, &list) != nil || len(list) == 0 || cbor.Unmarshal(list[0], &version) != nil {
		return 0
	}
	return version
}

func decodeHeartbeat(b []byte) (h heartbeat, err error) {
	if v := versionOf(b); v > 0 && v != wireVersion {
		return h, fmt.Errorf("heartbeat: %w: %d, not %d", errVersion, v, wireVersion)
	}
	if h, err = decode[heartbeat]("heartbeat", b); err != nil {
		return h, err
	}
	r := h.Report
	if h.Version != wireVersion || len(r.Head) > mostHead || len(r.Best) > mostHead || slices.ContainsFunc(r.Head, math.IsNaN) ||
		slices.ContainsFunc(r.Best, func(b surveyPoint) bool { return math.IsNaN(b.Priority) }) || len(h.Released) > partitions || len(h.Held) > partitions || h.Returned < 0 ||
		min(r.Pages, r.Relevant, r.Requests, r.Waiting, r.InFlight, r.Outbox, r.Allowed, r.Lost) < 0 || r.Workers < 0 {
		return h, fmt.Errorf("heartbeat of version %d: %w", h.Version, errWire)
	}
	return h, nil
}

func decodeBudget(b []byte) (v budgetValue, err error) {
	if v, err = decode[budgetValue]("budget", b); err != nil {
		return v, err
	}
	if v.Version != wireVersion || math.IsNaN(v.Price) {
		return v, fmt.Errorf("budget of version %d at the price %g: %w", v.Version, v.Price, errWire)
	}
	for id, n := range v.Grants {
		if n < 0 || id.Check() != nil {
			return v, fmt.Errorf("budget: %d pages of %.40q: %w", n, id, errWire)
		}
	}
	return v, nil
}

// table assigns partitions to owners. It is one value, and only the coordinator writes it.
type table struct {
	version     uint64 // rises with each write; epochs are versions
	term        uint64 // rises with each new coordinator
	coordinator AgentID
	members     map[AgentID]member
	entries     []entry // by partition
}

type member struct {
	incarnation uint64  // only this incarnation owns partitions
	keeper      AgentID // stores the agent's replica
}

type entry struct {
	owner AgentID
	epoch uint64  // version of the table when the owner changed; 0 without an owner
	next  AgentID // receives the partition once the owner releases it
	from  AgentID // the agent whose state the owner continues; the owner itself after a restart
	taken bool    // the last owner did not release it
}

func (t *table) clone() *table {
	c := *t
	c.members, c.entries = maps.Clone(t.members), slices.Clone(t.entries)
	return &c
}

// tableValue is the encoded table. Fields are indices into Agents from 1, with 0 for none.
type tableValue struct {
	_            struct{} `cbor:",toarray"`
	Wire         uint64
	Version      uint64
	Term         uint64
	Coordinator  uint64
	Agents       []AgentID
	Incarnations []uint64 // by agent; 0: no member
	Keepers      []uint64
	Owners       []uint64 // by partition, like the fields below
	Epochs       []uint64
	Next         []uint64
	From         []uint64
	Taken        []bool
}

func (t *table) encode() []byte {
	v := tableValue{Wire: wireVersion, Version: t.version, Term: t.term}
	index := map[AgentID]uint64{"": 0}
	names := []AgentID{t.coordinator}
	for id, m := range t.members {
		names = append(names, id, m.keeper)
	}
	for _, e := range t.entries {
		names = append(names, e.owner, e.next, e.from)
	}
	slices.Sort(names)
	for _, id := range slices.Compact(names) {
		if id != "" {
			v.Agents = append(v.Agents, id)
			index[id] = uint64(len(v.Agents))
		}
	}
	v.Coordinator = index[t.coordinator]
	for _, id := range v.Agents {
		v.Incarnations = append(v.Incarnations, t.members[id].incarnation)
		v.Keepers = append(v.Keepers, index[t.members[id].keeper])
	}
	for _, e := range t.entries {
		v.Owners, v.Epochs = append(v.Owners, index[e.owner]), append(v.Epochs, e.epoch)
		v.Next, v.From = append(v.Next, index[e.next]), append(v.From, index[e.from])
		v.Taken = append(v.Taken, e.taken)
	}
	return wire.Encode(v)
}

func decodeTable(b []byte) (*table, error) {
	v, err := decode[tableValue]("table", b)
	if err != nil {
		return nil, err
	}
	agents, parts := len(v.Agents), len(v.Owners)
	if v.Wire != wireVersion || len(v.Incarnations) != agents || len(v.Keepers) != agents || parts > partitions ||
		len(v.Epochs) != parts || len(v.Next) != parts || len(v.From) != parts || len(v.Taken) != parts {
		return nil, fmt.Errorf("table of version %d, %d agents, %d partitions: %w", v.Wire, agents, parts, errWire)
	}
	for _, indices := range [][]uint64{{v.Coordinator}, v.Keepers, v.Owners, v.Next, v.From} {
		if i := slices.Max(append(indices, 0)); i > uint64(agents) {
			return nil, fmt.Errorf("table: agent %d of %d: %w", i, agents, errWire)
		}
	}
	for i, id := range v.Agents {
		if id.Check() != nil || i > 0 && id <= v.Agents[i-1] {
			return nil, fmt.Errorf("table: agents out of order: %w", errWire)
		}
	}
	names := append([]AgentID{""}, v.Agents...)
	t := &table{version: v.Version, term: v.Term, coordinator: names[v.Coordinator], members: map[AgentID]member{}}
	for i, id := range v.Agents {
		if v.Incarnations[i] != 0 {
			t.members[id] = member{v.Incarnations[i], names[v.Keepers[i]]}
		}
	}
	for p := range parts {
		t.entries = append(t.entries, entry{names[v.Owners[p]], v.Epochs[p], names[v.Next[p]], names[v.From[p]], v.Taken[p]})
	}
	return t, nil
}
