package cluster

import (
	"fmt"
	"maps"
	"slices"

	"fossick/internal/wire"
)

// table says who owns what. It is one value, written by the coordinator alone.
type table struct {
	version     uint64 // rises with each writing; epochs are versions
	term        uint64 // rises with each new coordinator
	coordinator AgentID
	members     map[AgentID]member
	entries     []entry // by partition
}

// member is an agent that may own partitions.
type member struct {
	incarnation uint64  // what is owned is owned by this one alone
	keeper      AgentID // who has its replica
}

// entry is a partition's place in the table.
type entry struct {
	owner AgentID
	epoch uint64  // the table's version when the owner changed; 0 without an owner
	next  AgentID // whom the owner is to let it go to
	from  AgentID // whose state the owner goes on from; its own after a restart
	taken bool    // from an owner that did not let go
}

// clone returns a table that can be changed alone.
func (t *table) clone() *table {
	c := *t
	c.members, c.entries = maps.Clone(t.members), slices.Clone(t.entries)
	return &c
}

// tableValue is the table as it is written. Agents stand once, and 0 is none.
type tableValue struct {
	_            struct{} `cbor:",toarray"`
	Wire         uint64
	Version      uint64
	Term         uint64
	Coordinator  uint64
	Agents       []AgentID
	Incarnations []uint64 // by agent; 0 when it is no member
	Keepers      []uint64 // by agent
	Owners       []uint64 // by partition, as are the rest
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
	var v tableValue
	if err := decoding.Unmarshal(b, &v); err != nil {
		return nil, fmt.Errorf("table: %w: %w", errWire, err)
	}
	agents, parts := len(v.Agents), len(v.Owners)
	if v.Wire != wireVersion || len(v.Incarnations) != agents || len(v.Keepers) != agents || parts > partitions ||
		len(v.Epochs) != parts || len(v.Next) != parts || len(v.From) != parts || len(v.Taken) != parts {
		return nil, fmt.Errorf("table of version %d, %d agents, %d partitions: %w", v.Wire, agents, parts, errWire)
	}
	for _, indices := range [][]uint64{{v.Coordinator}, v.Keepers, v.Owners, v.Next, v.From} {
		for _, i := range indices {
			if i > uint64(agents) {
				return nil, fmt.Errorf("table: agent %d of %d: %w", i, agents, errWire)
			}
		}
	}
	for i, id := range v.Agents {
		if !id.known() || i > 0 && id <= v.Agents[i-1] {
			return nil, fmt.Errorf("table: agents out of order: %w", errWire)
		}
	}
	name := func(i uint64) AgentID {
		if i == 0 {
			return ""
		}
		return v.Agents[i-1]
	}
	t := &table{version: v.Version, term: v.Term, coordinator: name(v.Coordinator), members: map[AgentID]member{}}
	for i, id := range v.Agents {
		if v.Incarnations[i] != 0 {
			t.members[id] = member{v.Incarnations[i], name(v.Keepers[i])}
		}
	}
	for p := range parts {
		t.entries = append(t.entries, entry{name(v.Owners[p]), v.Epochs[p], name(v.Next[p]), name(v.From[p]), v.Taken[p]})
	}
	return t, nil
}
