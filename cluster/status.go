package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Status is the state of a cluster's crawl, by the values of its exchange.
type Status struct {
	Agents      []AgentStatus // by name
	Coordinator AgentID       // "" while there is none
	Partitions  int           // that have an owner
	Ended       string        // why the crawl has ended, see EndedEmpty; "" while it goes on
}

// AgentStatus is the state of one agent, by its last heartbeat.
type AgentStatus struct {
	ID         AgentID
	Partitions int // that it owns
	Dead       bool
	Leaving    bool
	Report     Report
}

// StatusOf reads an exchange's values. Without a table no agent owns anything.
func StatusOf(values map[string]Value) (s Status, err error) {
	owned := map[AgentID]int{}
	if v, ok := values[tableKey]; ok {
		t, err := decodeTable(v.Bytes)
		if err != nil {
			return s, fmt.Errorf("the table of owners: %w", err)
		}
		s.Coordinator = t.coordinator
		for _, e := range t.entries {
			if e.owner != "" {
				owned[e.owner]++
				s.Partitions++
			}
		}
	}
	if v, ok := values[budgetKey]; ok {
		b, err := decodeBudget(v.Bytes)
		if err != nil {
			return s, fmt.Errorf("the budget: %w", err)
		}
		s.Ended = b.Ended
	}
	for key, v := range values {
		id, ok := strings.CutPrefix(key, agentKeys)
		if !ok {
			continue
		}
		h, err := decodeHeartbeat(v.Bytes)
		if err != nil {
			return s, fmt.Errorf("the heartbeat of agent %s: %w", id, err)
		}
		s.Agents = append(s.Agents, AgentStatus{AgentID(id), owned[AgentID(id)], h.Dead, h.Leaving, h.Report})
	}
	slices.SortFunc(s.Agents, func(a, b AgentStatus) int { return cmp.Compare(a.ID, b.ID) })
	return s, nil
}
