package keeper

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"fossick/crawler/cluster/inorder"
	"fossick/store"
)

// Beside a replica's folder there are, while a base comes, what came of it so far, and then
// the store that is made of it.
const (
	spoolEnd  = ".base"
	makingEnd = ".new"
)

// replica is what a keeper has of one agent.
type replica struct {
	dir string

	mu      sync.Mutex // guards the rest
	store   *store.Store
	session uint64
	taken   inorder.Taken[frame] // carried out
	spool   *os.File
	piece   []byte
	bodies  bool // its owner sends pages, too
}

// mostPieceBytes bounds what one commit of another agent is believed to change.
const mostPieceBytes = 256 << 20

// take carries a frame out if it is the next, and says how far the replica is.
func (r *replica) take(f frame) (answer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.open(); err != nil {
		return answer{}, err
	}
	if f.Kind == kindOpen && f.Session > r.session {
		r.session, r.taken, r.piece, r.bodies = f.Session, inorder.Taken[frame]{}, nil, f.Bodies
		r.taken.Take() // this one
	}
	a := answer{Version: wireVersion, Session: f.Session, Newest: r.session}
	if f.Session == r.session {
		r.taken.Put(f.Seq, f, mostSent)
	}
	for next, ok := r.taken.Next(); ok; next, ok = r.taken.Next() {
		err := r.carryOut(next)
		switch {
		case errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrCutOff) || errors.Is(err, errWire):
			r.session, r.taken = 0, inorder.Taken[frame]{} // it has to begin anew
		case err != nil:
			return a, err
		default:
			r.taken.Take()
		}
	}
	if f.Session == r.session {
		a.Seq = r.taken.Last()
	}
	var err error
	a.Number, err = r.number()
	return a, err
}

// number is how far the replica is; 0 where it has other things than its owner sends now.
func (r *replica) number() (uint64, error) {
	if r.store == nil {
		return 0, nil
	}
	if bodies, err := store.ReplicaIn(r.store).Bodies(); err != nil || bodies != r.bodies {
		return 0, err
	}
	return store.ReplicaIn(r.store).Number()
}

// open opens what is there of an earlier process.
func (r *replica) open() (err error) {
	if r.store != nil || !store.Exists(r.dir) {
		return nil
	}
	if r.store, err = store.Open(r.dir); errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrNone) {
		return os.RemoveAll(r.dir) // its owner has it still, and sends another one
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

// write takes in some of a base.
func (r *replica) write(b []byte) (err error) {
	if r.spool == nil {
		if err := os.MkdirAll(filepath.Dir(r.dir), 0o755); err != nil {
			return err
		}
		if r.spool, err = os.Create(r.dir + spoolEnd); err != nil {
			return err
		}
	}
	if r.taken.Last() == 1 { // the first of another base
		if err := r.spool.Truncate(0); err != nil {
			return err
		}
		if _, err := r.spool.Seek(0, 0); err != nil {
			return err
		}
	}
	_, err = r.spool.Write(b)
	return err
}

// found makes a replica of a base, in place of the one that was.
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

// apply takes in changes.
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

// read has something done with the replica.
func (r *replica) read(do func(s *store.Store) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.open(); err != nil || r.store == nil {
		return err
	}
	return do(r.store)
}

// move has the replica be a store of its own in another folder, in place of what is there.
func (r *replica) move(to string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.shut(); err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(to), os.Rename(r.dir, to))
}

func (r *replica) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.shut()
}

// shut is close under mu.
func (r *replica) shut() error {
	err := r.unspool()
	r.session = 0
	if r.store != nil {
		err = errors.Join(err, r.store.Close())
		r.store = nil
	}
	return err
}
