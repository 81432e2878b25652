package keeper

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"fossick/crawler/cluster"
	"fossick/crawler/cluster/limits"
	"fossick/internal/wire"
	"fossick/store"
)

// Options are what a Keeper works with.
type Options struct {
	Dir  string // has a folder for each replica
	Send func(to cluster.AgentID, answer []byte)
}

// Keeper has the replicas of other agents. Its methods are safe for concurrent use; Run is
// called once.
type Keeper struct {
	opt  Options
	run  uint64        // of this process, for answers
	wake chan struct{} // one place: something waits

	mu      sync.Mutex // guards the rest
	waiting []letter
	has     map[cluster.AgentID]*replica
}

type letter struct {
	from  cluster.AgentID
	frame []byte
}

// mostWaiting bounds the frames that wait; what is dropped is sent again.
const mostWaiting = 4 * mostSent

// New returns a keeper of the replicas in a folder, which need not be there.
func New(opt Options) *Keeper {
	return &Keeper{opt: opt, run: rand.Uint64(), wake: make(chan struct{}, 1), has: map[cluster.AgentID]*replica{}}
}

// Hear takes in a frame. It does not wait.
func (k *Keeper) Hear(from cluster.AgentID, frame []byte) {
	k.mu.Lock()
	if len(k.waiting) < mostWaiting {
		k.waiting = append(k.waiting, letter{from, frame})
	}
	k.mu.Unlock()
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// Run carries out what owners send until ctx ends, and closes the replicas. An error is one of
// this agent's disk.
func (k *Keeper) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, k.close()) }()
	if err := k.tidy(); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-k.wake:
		}
		k.mu.Lock()
		letters := k.waiting
		k.waiting = nil
		k.mu.Unlock()
		for _, l := range letters {
			if err := k.carryOut(l); err != nil {
				return err
			}
		}
	}
}

// tidy removes what a kill left of bases.
func (k *Keeper) tidy() error {
	entries, err := os.ReadDir(k.opt.Dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("replicas: %w", err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), spoolEnd) || strings.HasSuffix(e.Name(), makingEnd) {
			if err := os.RemoveAll(filepath.Join(k.opt.Dir, e.Name())); err != nil {
				return fmt.Errorf("replicas: %w", err)
			}
		}
	}
	return nil
}

// carryOut does what a frame says, and answers.
func (k *Keeper) carryOut(l letter) error {
	f, err := decodeFrame(l.frame)
	if err != nil || limits.Agent(l.from) != nil {
		return nil // of another version, or of nobody
	}
	a, err := k.of(l.from).take(f)
	if err != nil {
		return fmt.Errorf("the replica of agent %s: %w", l.from, err)
	}
	a.Run = k.run
	k.opt.Send(l.from, wire.Encode(a))
	return nil
}

// of returns an agent's replica, which may be empty.
func (k *Keeper) of(id cluster.AgentID) *replica {
	k.mu.Lock()
	defer k.mu.Unlock()
	r := k.has[id]
	if r == nil {
		r = &replica{dir: filepath.Join(k.opt.Dir, string(id))}
		k.has[id] = r
	}
	return r
}

// Read has something done with an agent's replica, if there is one. Nothing changes it
// meanwhile.
func (k *Keeper) Read(id cluster.AgentID, do func(s *store.Store) error) error {
	if err := limits.Agent(id); err != nil {
		return err
	}
	return k.of(id).read(do)
}

// Release gives up an agent's replica, which is a store of its own from then on, in place of
// what is in that folder. The agent is no more; it gets another replica if it comes back.
func (k *Keeper) Release(id cluster.AgentID, to string) error { return k.of(id).move(to) }

// Drop removes all replicas: there is nothing to go on with any more.
func (k *Keeper) Drop() error {
	err := k.close()
	return errors.Join(err, os.RemoveAll(k.opt.Dir))
}

func (k *Keeper) close() (err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, r := range k.has {
		err = errors.Join(err, r.close())
	}
	return err
}
