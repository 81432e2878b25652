package peers

import (
	"errors"
	"fmt"
	"slices"

	"fossick/crawler/cluster"
)

// roster says who takes part in a task: one value of the exchange, which any agent may swap.
type roster struct {
	_        struct{} `cbor:",toarray"`
	Version  uint64
	Session  uint64 // rises with each begin
	State    uint64
	Settings string          `most:"65536"` // the same at all
	By       cluster.AgentID // who gave up
	Members  []member        // by name; the first leads
}

type member struct {
	_    struct{} `cbor:",toarray"`
	ID   cluster.AgentID
	Life uint64
}

// States of a roster.
const (
	gathering = 1
	working   = 2
	done      = 3 // or to be made again
	givenUp   = 4
)

// Errors of Run, beside those of the exchange and of the work.
var (
	// ErrAnew says that the task begins anew; work may return it.
	ErrAnew     = errors.New("it starts over")
	ErrSettings = errors.New("other agents run this command with other settings; give all of them the same settings")
	ErrGivenUp  = errors.New("it was given up; start the command again on all agents")
	ErrTwice    = errors.New("another process runs this command for the same agent")
	ErrWithout  = errors.New("enough agents take part already, without this one; give the right number of agents to all of them")
)

func (r *roster) find(id cluster.AgentID) (at int, ok bool) {
	return slices.BinarySearchFunc(r.Members, id, func(m member, id cluster.AgentID) int {
		switch {
		case m.ID < id:
			return -1
		case m.ID > id:
			return 1
		}
		return 0
	})
}

// with returns a roster with an agent in a life.
func (r roster) with(id cluster.AgentID, life uint64) roster {
	r.Members = slices.Clone(r.Members)
	at, ok := r.find(id)
	if !ok {
		r.Members = slices.Insert(r.Members, at, member{ID: id})
	}
	r.Members[at].Life = life
	return r
}

func decodeRoster(b []byte) (r roster, err error) {
	if err := decoding.Unmarshal(b, &r); err != nil {
		return r, fmt.Errorf("roster: %w: %w", ErrWire, err)
	}
	ordered := slices.IsSortedFunc(r.Members, func(a, b member) int {
		if a.ID < b.ID {
			return -1
		}
		return 1 // so none stands twice
	})
	if r.Version != wireVersion || r.Session == 0 || r.State < gathering || r.State > givenUp || !ordered || len(r.Members) >= mostPeers {
		return r, fmt.Errorf("roster of version %d, state %d, %d agents: %w", r.Version, r.State, len(r.Members), ErrWire)
	}
	return r, nil
}
