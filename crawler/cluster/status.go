package cluster

import (
	"maps"
	"slices"
	"strings"
)

// Status is the state of a cluster's crawl, read from the values of its exchange.
type Status struct {
	Agents      []agentStatus // by name
	Coordinator AgentID       // "" while there is none
	Partitions  int           // with an owner
	Ended       string        // why the crawl ended; "" while it runs
	Unreadable  []string      // keys of undecodable values, sorted
}

type agentStatus struct {
	ID         AgentID
	Partitions int
	Dead       bool
	Leaving    bool
	Report     report
}

// StatusOf decodes an exchange's values. Without a table no agent owns anything.
func StatusOf(values map[string]Value) (s Status) {
	owned := map[AgentID]int{}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		v := values[key].Bytes
		id, isAgent := strings.CutPrefix(key, agentKeys)
		var err error
		switch {
		case key == tableKey:
			var t *table
			if t, err = decodeTable(v); err != nil {
				break
			}
			s.Coordinator = t.coordinator
			for _, e := range t.entries {
				if e.owner != "" {
					owned[e.owner]++
					s.Partitions++
				}
			}
		case key == budgetKey:
			var b budgetValue
			b, err = decodeBudget(v)
			s.Ended = b.Ended
		case isAgent:
			var h heartbeat
			if h, err = decodeHeartbeat(v); err == nil {
				s.Agents = append(s.Agents, agentStatus{ID: AgentID(id), Dead: h.Dead, Leaving: h.Leaving, Report: h.Report})
			}
		}
		if err != nil {
			s.Unreadable = append(s.Unreadable, key)
		}
	}
	for i := range s.Agents {
		s.Agents[i].Partitions = owned[s.Agents[i].ID]
	}
	return s
}
