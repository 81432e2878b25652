package cluster

import (
	"maps"
	"slices"

	"fossick/internal/wire"
)

// mostToldBytes bounds what one call of Tell says.
const mostToldBytes = mostMessageBytes - 1<<10

// Tell sends a message to another agent's engine; see Engine.Hear. It does not wait, and may
// be called before Run.
func (a *Agent) Tell(to AgentID, b []byte) {
	if len(b) > mostToldBytes {
		return // who asks for it is wrong; the others would not read it
	}
	m := message{Version: wireVersion, Kind: kindTold, From: a.opt.ID, Parcels: []Parcel{{Number: 1, Bytes: b}}}
	select {
	case a.unsent <- sendMessage{to, wire.Encode(m)}:
	default: // the exchange is slow or gone
	}
}

// Peers returns the other agents of the table, sorted by name. run identifies this run of the
// agent: it rises with each run, and is 0 until the first heartbeat was accepted.
func (a *Agent) Peers() (run uint64, others []AgentID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.node == nil {
		return 0, nil
	}
	if t := a.node.hand.table; t != nil {
		others = slices.Sorted(maps.Keys(t.members))
	}
	return a.node.lease.run, slices.DeleteFunc(others, func(id AgentID) bool { return id == a.opt.ID })
}

// Lives says whether an agent takes part as far as this one knows: nobody has declared it dead.
func (a *Agent) Lives(id AgentID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.node == nil {
		return true
	}
	members := a.node.hand.members()
	_, in := members[id]
	return in || members == nil
}

// Keeps says whether the table names this agent as the keeper of another agent's replica.
func (a *Agent) Keeps(id AgentID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.node == nil {
		return false
	}
	m, in := a.node.hand.members()[id]
	return in && m.keeper == a.opt.ID
}
