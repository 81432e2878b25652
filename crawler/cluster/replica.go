package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"fossick/internal/wire"
	"fossick/store"
)

// A replica holds an agent's knowledge of URLs at another agent, its keeper (docs/cluster.md).
// The owner sends the changes of each commit in frames; the keeper answers how far it has them on
// disk. Frames may come twice, late, out of order or not at all.

const (
	frameBytes = 96 << 10 // approximate size of a frame; longer data is split
	framesSent = 20       // most unacknowledged frames: 2 MiB, kept to be sent again

	replicasDir = "replicas" // folder of other agents' replicas, in a store's folder
	leftBy      = "left-by-" // plus an agent's name: the folder of the store that the agent left behind
)

// frame is a message of a session from an owner to its keeper. Each continues the one before.
type frame struct {
	_       struct{} `cbor:",toarray"`
	Session uint64
	Seq     uint64 // from 1
	Kind    uint64
	Number  uint64         // base's end: its last parcel; changes: the parcel before the first
	Bytes   []byte         `most:"262144"` // base: a chunk of it; piece: a chunk of the next parcel
	Bodies  bool           // open, base's end: the replica includes pages
	Changes []frameChanges `most:"131072"` // changes: parcels; the first continues the pieces before
}

type frameChanges struct {
	_      struct{} `cbor:",toarray"`
	Number uint64
	Bytes  []byte `most:"262144"`
}

const (
	kindOpen    = 1 // starts a session; the keeper answers what it has
	kindBase    = 2
	kindBaseEnd = 3
	kindPiece   = 4
	kindChanges = 5
)

// answer tells an owner what its keeper has.
type answer struct {
	_       struct{} `cbor:",toarray"`
	Session uint64
	Seq     uint64 // last frame carried out; 0: session unknown, as after a restart
	Number  uint64 // last parcel of the replica on disk; 0: no replica
	Newest  uint64
	Run     uint64 // random, of the keeper's process
}

func decodeFrame(b []byte) (f frame, err error) {
	f, err = decode[frame]("frame", b)
	if err == nil && (f.Seq == 0 || f.Kind < kindOpen || f.Kind > kindChanges || (f.Kind == kindOpen) != (f.Seq == 1)) {
		err = fmt.Errorf("frame %d, kind %d: %w", f.Seq, f.Kind, errWire)
	}
	return f, err
}

func (m *Member) newReplicas() {
	tell := func(kind byte) func(AgentID, []byte) {
		return func(to AgentID, b []byte) { m.sendEngine(to, kind, b) }
	}
	m.keeper = newKeeper(filepath.Join(m.opt.Crawl.Store.Dir(), replicasDir), tell(answerMessage))
	if m.opt.Crawl.Replicate {
		m.sender = newSender(senderOptions{
			store: m.opt.Crawl.Store, bodies: m.opt.Crawl.ReplicateBodies, send: tell(frameMessage),
			trim: func(ctx context.Context, upto uint64) error { return ignoreEnd(m.agent.TrimChanges(ctx, upto)) },
		})
	}
}

// whenReplicated calls do once the replica has all that is committed now.
func (m *Member) whenReplicated(do func()) error {
	if m.sender == nil {
		do()
		return nil
	}
	counts, err := m.opt.Crawl.Store.Counts()
	if err != nil {
		return err
	}
	m.sender.when(counts.Parcels, do)
	return nil
}

func (m *Member) adopt(gained []holding) error {
	from := map[AgentID][]uint16{}
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

// inherit takes over partitions from a dead agent's replica, and sends its parcels on.
func (m *Member) inherit(id AgentID, parts []uint16) error {
	pages := false
	err := m.keeper.read(id, func(s *store.Store) (err error) {
		if pages, err = store.ReplicaIn(s).Bodies(); err != nil {
			return err
		}
		return m.agent.Adopt(m.ctx, s, parts)
	})
	if err == nil && pages {
		to := filepath.Join(m.opt.Crawl.Store.Dir(), leftBy+string(id))
		if err = m.keeper.move(id, to); err == nil {
			m.opt.Crawl.Log.Warn("an agent is gone; its pages are in a store of their own", "agent", id, "store", to)
		}
	}
	if err != nil {
		return fmt.Errorf("agent %s is gone: %w", id, err)
	}
	return nil
}

// replicate sends commits to the keeper. Without replication it drops the changes, so that no old
// replica is continued after a gap.
func (m *Member) replicate(ctx context.Context) error {
	if m.sender != nil {
		return m.sender.run(ctx)
	}
	counts, err := m.opt.Crawl.Store.Counts()
	if err != nil {
		return err
	}
	return m.agent.TrimChanges(ctx, counts.Parcels+1)
}

// keeper stores the replicas of other agents. Safe for concurrent use; call run once.
type keeper struct {
	dir  string // has a folder for each replica
	send func(to AgentID, answer []byte)
	id   uint64
	wake chan struct{} // capacity 1: frames wait

	mu      sync.Mutex // guards the rest
	waiting []lesson
	has     map[AgentID]*replica
}

// mostFrames bounds the waiting frames; owners send dropped ones again.
const mostFrames = 4 * framesSent

// newKeeper returns a keeper of the replicas in a folder, which need not exist.
func newKeeper(dir string, send func(to AgentID, answer []byte)) *keeper {
	return &keeper{dir: dir, send: send, id: rand.Uint64(), wake: make(chan struct{}, 1), has: map[AgentID]*replica{}}
}

func (k *keeper) handle(from AgentID, frame []byte) {
	k.mu.Lock()
	if len(k.waiting) < mostFrames {
		k.waiting = append(k.waiting, lesson{from, frame})
	}
	k.mu.Unlock()
	signal(k.wake)
}

// run carries out frames until ctx ends. It fails only when this agent's disk does.
func (k *keeper) run(ctx context.Context) (err error) {
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
		waiting := k.waiting
		k.waiting = nil
		k.mu.Unlock()
		for _, l := range waiting {
			f, err := decodeFrame(l.bytes)
			if err != nil || l.from.Check() != nil {
				continue
			}
			a, err := k.of(l.from).take(f)
			if err != nil {
				return fmt.Errorf("the replica of agent %s: %w", l.from, err)
			}
			a.Run = k.id
			k.send(l.from, wire.Encode(a))
		}
	}
}

// tidy removes unfinished bases left by a kill.
func (k *keeper) tidy() error {
	entries, err := os.ReadDir(k.dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("replicas: %w", err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), spoolEnd) || strings.HasSuffix(e.Name(), makingEnd) {
			if err := os.RemoveAll(filepath.Join(k.dir, e.Name())); err != nil {
				return fmt.Errorf("replicas: %w", err)
			}
		}
	}
	return nil
}

func (k *keeper) of(id AgentID) *replica {
	k.mu.Lock()
	defer k.mu.Unlock()
	r := k.has[id]
	if r == nil {
		r = &replica{dir: filepath.Join(k.dir, string(id))}
		k.has[id] = r
	}
	return r
}

// read calls do with an agent's replica, if there is one, and blocks changes meanwhile.
func (k *keeper) read(id AgentID, do func(s *store.Store) error) error {
	if err := id.Check(); err != nil {
		return err
	}
	r := k.of(id)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.open(); err != nil || r.store == nil {
		return err
	}
	return do(r.store)
}

// move turns a dead agent's replica into a store in another folder.
func (k *keeper) move(id AgentID, to string) error {
	r := k.of(id)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.shut(); err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(to), os.Rename(r.dir, to))
}

func (k *keeper) drop() error {
	err := k.close()
	return errors.Join(err, os.RemoveAll(k.dir))
}

func (k *keeper) close() (err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, r := range k.has {
		r.mu.Lock()
		err = errors.Join(err, r.shut())
		r.mu.Unlock()
	}
	return err
}

// A base arrives in a file beside the replica's folder, from which a new folder is made.
const (
	spoolEnd  = ".base"
	makingEnd = ".new"
)

type replica struct {
	dir string

	mu      sync.Mutex // guards the rest
	store   *store.Store
	session uint64
	taken   takenFrames[frame]
	spool   *os.File
	piece   []byte
	bodies  bool // the owner also sends pages
}

// mostPieceBytes bounds the changes of one commit of another agent.
const mostPieceBytes = 256 << 20

// take stores a frame, and carries out all frames that are next in order.
func (r *replica) take(f frame) (answer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.open(); err != nil {
		return answer{}, err
	}
	if f.Kind == kindOpen && f.Session > r.session {
		r.session, r.taken, r.piece, r.bodies = f.Session, takenFrames[frame]{}, nil, f.Bodies
		r.taken.take()
	}
	a := answer{Session: f.Session, Newest: r.session}
	if f.Session == r.session {
		r.taken.put(f.Seq, f, framesSent)
	}
	for next, ok := r.taken.next(); ok; next, ok = r.taken.next() {
		err := r.carryOut(next)
		switch {
		case errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrCutOff) || errors.Is(err, errWire):
			r.session, r.taken = 0, takenFrames[frame]{} // the owner must start again
		case err != nil:
			return a, err
		default:
			r.taken.take()
		}
	}
	if f.Session == r.session {
		a.Seq = r.taken.last
	}
	if r.store == nil {
		return a, nil
	}
	bodies, err := store.ReplicaIn(r.store).Bodies()
	if err == nil && bodies == r.bodies { // otherwise the replica holds other data than its owner sends now
		a.Number, err = store.ReplicaIn(r.store).Number()
	}
	return a, err
}

func (r *replica) open() (err error) {
	if r.store != nil || !store.Exists(r.dir) {
		return nil
	}
	if r.store, err = store.Open(r.dir); errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrNone) {
		return os.RemoveAll(r.dir) // its owner sends another one
	}
	return err
}

func (r *replica) carryOut(f frame) error {
	switch f.Kind {
	case kindBase:
		return r.write(f.Bytes)
	case kindBaseEnd:
		return r.found(f.Number, f.Bodies)
	case kindPiece:
		if r.piece = append(r.piece, f.Bytes...); len(r.piece) > mostPieceBytes {
			r.piece = nil
			return fmt.Errorf("%w: changes of more than %d bytes", errWire, mostPieceBytes)
		}
		return nil
	case kindChanges:
		return r.apply(f)
	}
	return errWire
}

func (r *replica) write(b []byte) (err error) {
	if r.spool == nil {
		if err := os.MkdirAll(filepath.Dir(r.dir), 0o755); err != nil {
			return err
		}
		if r.spool, err = os.Create(r.dir + spoolEnd); err != nil {
			return err
		}
	}
	if r.taken.last == 1 { // the first chunk of another base
		_, err := r.spool.Seek(0, 0)
		if err = errors.Join(err, r.spool.Truncate(0)); err != nil {
			return err
		}
	}
	_, err = r.spool.Write(b)
	return err
}

// found replaces the replica by one made of the spooled base.
func (r *replica) found(number uint64, bodies bool) (err error) {
	if r.spool == nil {
		return fmt.Errorf("%w: the end of a base without its start", errWire)
	}
	defer func() { err = errors.Join(err, r.unspool()) }()
	if _, err := r.spool.Seek(0, 0); err != nil {
		return err
	}
	making := r.dir + makingEnd
	if err := os.RemoveAll(making); err != nil {
		return err
	}
	s, err := store.Create(making, store.Info{})
	if err != nil {
		return err
	}
	if err := errors.Join(store.ReplicaIn(s).Base(r.spool, number, bodies), s.Close()); err != nil {
		return err
	}
	if r.store != nil {
		old := r.store
		r.store = nil
		if err := old.Close(); err != nil {
			return err
		}
	}
	if err := errors.Join(os.RemoveAll(r.dir), os.Rename(making, r.dir)); err != nil {
		return err
	}
	r.store, err = store.Open(r.dir)
	return err
}

func (r *replica) unspool() error {
	f := r.spool
	r.spool = nil
	if f == nil {
		return nil
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

func (r *replica) apply(f frame) error {
	if r.store == nil {
		return fmt.Errorf("%w: changes without a base", errWire)
	}
	var parcels []store.Parcel
	for i, e := range f.Changes {
		if i == 0 && len(r.piece) > 0 {
			e.Bytes = append(r.piece, e.Bytes...)
			r.piece = nil
		}
		parcels = append(parcels, store.Parcel{Part: store.KeeperPart, Number: e.Number, Data: e.Bytes})
	}
	_, err := store.ReplicaIn(r.store).Apply(f.Number, parcels)
	return err
}

// shut closes the replica. The caller holds mu.
func (r *replica) shut() error {
	err := r.unspool()
	r.session = 0
	if r.store != nil {
		err = errors.Join(err, r.store.Close())
		r.store = nil
	}
	return err
}
