package cluster

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"fossick/internal/page"
)

// Status is the state of a cluster's crawl, read from the values of its exchange.
type Status struct {
	Agents      []agentStatus // by name
	Coordinator AgentID       // "" while there is none
	Partitions  int           // with an owner
	Ended       string        // why the crawl ended; "" while it runs
	Unreadable  []string      // keys of undecodable values, sorted
	owners      []AgentID     // by partition; "" without one
}

type agentStatus struct {
	ID         AgentID
	Place      string // machine and store; "" if unknown
	Partitions int
	Dead       bool
	Leaving    bool
	Revision   uint64 // of its heartbeat
	Report     report
}

// own sets the owners of the partitions.
func (s *Status) own(owners []AgentID) {
	s.owners = owners
	owned := map[AgentID]int{}
	for _, id := range owners {
		if id != "" {
			owned[id]++
			s.Partitions++
		}
	}
	for i := range s.Agents {
		s.Agents[i].Partitions = owned[s.Agents[i].ID]
	}
}

// Owner returns the agent that owns the site of a URL, "" for none, and the site's partition.
func (s *Status) Owner(url string) (id AgentID, part int) {
	if part = int(partitionOf(page.Site(url))); part < len(s.owners) {
		id = s.owners[part]
	}
	return id, part
}

// Status returns the state of the agents; their IDs are the names of their stores' folders.
func (t *Team) Status() (s Status) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, p := range t.progress {
		s.Agents = append(s.Agents, agentStatus{ID: AgentID(filepath.Base(t.agents[i].store.Dir())), Report: report{
			Pages: int64(p.Counts.Pages), Relevant: int64(p.Counts.Relevant), Requests: int64(p.Counts.Requests), Waiting: int64(p.Queue), InFlight: int64(p.Busy), Rate: t.rates[i],
		}})
	}
	owners := make([]AgentID, partitions)
	for part := range owners {
		owners[part] = s.Agents[part%len(s.Agents)].ID
	}
	s.own(owners)
	return s
}

// StatusOf decodes an exchange's values. Without a table no agent owns anything.
func StatusOf(values map[string]Value) (s Status) {
	var owners []AgentID
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
				owners = append(owners, e.owner)
			}
		case key == budgetKey:
			var b budgetValue
			b, err = decodeBudget(v)
			s.Ended = b.Ended
		case isAgent:
			var h heartbeat
			if h, err = decodeHeartbeat(v); err == nil {
				s.Agents = append(s.Agents, agentStatus{ID: AgentID(id), Place: h.Place, Dead: h.Dead, Leaving: h.Leaving, Revision: values[key].Revision, Report: h.Report})
			}
		}
		if err != nil {
			s.Unreadable = append(s.Unreadable, key)
		}
	}
	s.own(owners)
	return s
}
