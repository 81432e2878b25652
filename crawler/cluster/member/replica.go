package member

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"fossick/crawler/cluster"
	"fossick/crawler/cluster/keeper"
	"fossick/store"
)

// What a member tells another begins with a byte that says what it is.
const (
	toldFrame  = 'f' // of the sender's replica
	toldAnswer = 'a' // of its keeper
	toldLesson = 'l' // what teaching has to say
)

// replicasDir is where in the folder of a store the replicas of others are.
const replicasDir = "replicas"

// leftBy and an agent's name are the folder, beside it, of a store that it left.
const leftBy = "left-by-"

// replicas is what keeps this member's state elsewhere, and others' here.
type replicas struct {
	keeper  *keeper.Keeper
	sender  *keeper.Sender           // nil when nobody is to keep what is here
	adopted map[cluster.AgentID]bool // and the parcels sent on, before Outlive says so; of who does the jobs
}

func (m *Member) newReplicas() {
	m.adopted = map[cluster.AgentID]bool{}
	tell := func(kind byte) func(cluster.AgentID, []byte) {
		return func(to cluster.AgentID, b []byte) { m.node.Tell(to, append([]byte{kind}, b...)) }
	}
	m.keeper = keeper.New(keeper.Options{Dir: filepath.Join(m.opt.Crawl.Store.Dir(), replicasDir), Send: tell(toldAnswer)})
	if m.opt.Crawl.Replicate {
		m.sender = keeper.NewSender(keeper.SenderOptions{
			Store: m.opt.Crawl.Store, Bodies: m.opt.Crawl.ReplicateBodies, Send: tell(toldFrame),
			Trim: func(ctx context.Context, upto uint64) error { return ignoreEnd(m.agent.TrimChanges(ctx, upto)) },
		})
	}
}

// Keeper is as cluster.Engine says.
func (m *Member) Keeper(id cluster.AgentID) {
	if m.sender != nil {
		m.sender.Keeper(id)
	}
}

// Hear is as cluster.Engine says.
func (m *Member) Hear(from cluster.AgentID, told []byte) {
	if len(told) == 0 {
		return
	}
	switch told[0] {
	case toldFrame:
		if m.node.Keeps(from) {
			m.keeper.Hear(from, told[1:])
		}
	case toldAnswer:
		if m.sender != nil {
			m.sender.Hear(from, told[1:])
		}
	case toldLesson:
		m.hear(from, told[1:])
	}
}

// kept has something done once all that is committed by now is in the replica.
func (m *Member) kept(do func()) error {
	if m.sender == nil {
		do()
		return nil
	}
	counts, err := m.opt.Crawl.Store.Counts()
	if err != nil {
		return err
	}
	m.sender.When(counts.Parcels, do)
	return nil
}

// Outlive is as cluster.Engine says.
func (m *Member) Outlive(id cluster.AgentID) {
	m.do(func() error {
		if m.adopted[id] {
			delete(m.adopted, id)
			return nil
		}
		return m.inherit(id, nil)
	})
}

// adopt goes on with partitions of agents that are no more, from their replicas.
func (m *Member) adopt(gained []cluster.Holding) error {
	from := map[cluster.AgentID][]uint16{}
	for _, h := range gained {
		if h.Taken && h.From != "" && h.From != m.opt.Protocol.ID {
			from[h.From] = append(from[h.From], uint16(h.Partition))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(from)) {
		if err := m.inherit(id, from[id]); err != nil {
			return err
		}
		m.adopted[id] = true
	}
	return nil
}

// inherit takes in what an agent's replica has of partitions, and sends its parcels on.
func (m *Member) inherit(id cluster.AgentID, parts []uint16) error {
	pages := false
	err := m.keeper.Read(id, func(s *store.Store) (err error) {
		if pages, err = store.ReplicaIn(s).Bodies(); err != nil {
			return err
		}
		return m.agent.Adopt(m.ctx, s, parts)
	})
	if err == nil && pages {
		to := filepath.Join(m.opt.Crawl.Store.Dir(), leftBy+string(id))
		if err = m.keeper.Release(id, to); err == nil {
			m.opt.Crawl.Log.Warn("an agent is gone; its pages are in a store of their own", "agent", id, "store", to)
		}
	}
	if err != nil {
		return fmt.Errorf("agent %s is gone: %w", id, err)
	}
	return nil
}

// replicate sends what is committed to the keeper. Where nobody is to keep it, it says so in
// the store: a replica of before is not to be followed up some day.
func (m *Member) replicate(ctx context.Context) error {
	if m.sender != nil {
		return m.sender.Run(ctx)
	}
	counts, err := m.opt.Crawl.Store.Counts()
	if err != nil {
		return err
	}
	return m.agent.TrimChanges(ctx, counts.Parcels+1)
}
