package keeper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"fossick/crawler/cluster"
	"fossick/store"
)

// SenderOptions are what a Sender works with.
type SenderOptions struct {
	Store  *store.Store // whose commits put their changes into its outbox
	Bodies bool         // pages go as well
	Send   func(to cluster.AgentID, frame []byte)
	Trim   func(ctx context.Context, upto uint64) error // drops changes from the outbox
	Resend time.Duration                                // pause before frames are sent again [2 s]
	Behind uint64                                       // changes that wait at most for a keeper that says nothing [20,000]
}

// Sender sends an agent's changes to its keeper. Its methods are safe for concurrent use; Run
// is called once.
type Sender struct {
	opt  SenderOptions
	wake chan struct{} // one place: something of the rest changed

	mu      sync.Mutex // guards the rest
	named   bool       // keeper is known
	keeper  cluster.AgentID
	session *session
	reach   uint64 // the outbox has changes up to here
	trimmed uint64 // and none up to here
	number  uint64 // in the keeper's replica
	waiting []waiting
}

const (
	// defaultResend is long beside the way to another machine and back.
	defaultResend = 2 * time.Second
	// trimEvery is how often the outbox is trimmed, as each time is a commit.
	trimEvery = time.Second
	// defaultBehind is some 100 MB. Who answers again later gets a base.
	defaultBehind = 20_000
	// silentFor is after how long a keeper without an answer is taken to be silent.
	silentFor = time.Minute
)

// NewSender returns one that has no keeper yet.
func NewSender(opt SenderOptions) *Sender {
	if opt.Resend <= 0 {
		opt.Resend = defaultResend
	}
	opt.Behind = cmp.Or(opt.Behind, defaultBehind)
	return &Sender{opt: opt, wake: make(chan struct{}, 1)}
}

// Keeper says who the keeper is from now on; "" when there is nobody, so that nothing is
// waited for.
func (s *Sender) Keeper(id cluster.AgentID) {
	var old *session
	s.mu.Lock()
	if !s.named || id != s.keeper {
		old, s.named, s.keeper, s.session, s.number = s.session, true, id, nil, 0
	}
	s.mu.Unlock()
	if old != nil {
		old.end()
	}
	s.signal()
	s.doReady()
}

// Reach says that the outbox has changes up to a number.
func (s *Sender) Reach(number uint64) {
	s.mu.Lock()
	s.reach = max(s.reach, number)
	x, behind := s.session, s.reach-max(s.number, s.trimmed)
	s.mu.Unlock()
	if x != nil {
		if behind > s.opt.Behind {
			x.endSilent(silentFor)
		}
		x.wake()
	}
	s.signal()
}

// Hear takes in what the keeper answered.
func (s *Sender) Hear(from cluster.AgentID, b []byte) {
	a, err := decodeAnswer(b)
	if err != nil {
		return // of another version
	}
	s.mu.Lock()
	x := s.session
	s.mu.Unlock()
	if x == nil || from != x.to {
		return
	}
	x.answered(a)
	s.mu.Lock()
	if s.session == x && a.Session == x.id {
		s.number = max(s.number, a.Number)
	}
	s.mu.Unlock()
	s.doReady()
}

func (s *Sender) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run sends until ctx ends.
func (s *Sender) Run(ctx context.Context) error {
	trimmed, err := store.OutboxOf(s.opt.Store).Trimmed()
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.trimmed = trimmed
	s.mu.Unlock()
	var newest uint64 // session
	for ctx.Err() == nil {
		s.mu.Lock()
		named, keeper := s.named, s.keeper
		var x *session
		if named && keeper != "" {
			newest = max(uint64(time.Now().UnixNano()), newest+1) // a keeper may know of those before
			x = newSession(newest, keeper, s.opt.Send, s.opt.Resend)
			s.session = x
		}
		s.mu.Unlock()
		var err error
		switch {
		case x != nil:
			err = s.serve(ctx, x)
		case named:
			err = s.drop(ctx)
		default:
			err = s.pause(ctx, s.opt.Resend)
		}
		switch {
		case ctx.Err() != nil || err == nil:
		case !errors.Is(err, errAnew):
			return fmt.Errorf("the replica at agent %s: %w", keeper, err)
		default:
			newest = max(newest, x.latest())
			if x.wasSilent() { // or what waits for it would fill the disk
				if err := s.trim(ctx, s.reached()); err != nil {
					return err
				}
			}
			s.mu.Lock()
			s.session = nil
			same := s.keeper == keeper
			s.mu.Unlock()
			if same { // it lost the thread, and may do so again
				_ = s.pause(ctx, s.opt.Resend)
			}
		}
	}
	return nil
}

// pause waits until something changed, at most so long.
func (s *Sender) pause(ctx context.Context, most time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-s.wake:
	case <-time.After(most):
	}
	return nil
}

// drop drops changes that nobody keeps: who comes to keep them needs a base anyway.
func (s *Sender) drop(ctx context.Context) error {
	s.mu.Lock()
	reach := s.reach
	s.mu.Unlock()
	if err := s.trim(ctx, reach); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(trimEvery):
	}
	return s.pause(ctx, time.Minute)
}

// trim drops changes from the outbox.
func (s *Sender) trim(ctx context.Context, upto uint64) error {
	s.mu.Lock()
	old := s.trimmed
	s.mu.Unlock()
	if upto <= old {
		return nil
	}
	if err := s.opt.Trim(ctx, upto); err != nil {
		return err
	}
	s.mu.Lock()
	s.trimmed = upto
	s.mu.Unlock()
	return nil
}

// serve has one keeper follow, until there is another.
func (s *Sender) serve(ctx context.Context, x *session) error {
	if err := x.push(ctx, frame{Kind: kindOpen, Bodies: s.opt.Bodies}); err != nil {
		return err
	}
	if err := x.await(ctx, func() bool { return x.sent.Len() == 0 }); err != nil {
		return err
	}
	counts, err := s.opt.Store.Counts()
	if err != nil {
		return err
	}
	s.mu.Lock()
	number, trimmed := s.number, s.trimmed
	s.mu.Unlock()
	if number == 0 || number < trimmed || number > counts.Parcels {
		if number, err = s.base(ctx, x); err != nil {
			return err
		}
	}
	return s.follow(ctx, x, number)
}

// base sends all that a replica has.
func (s *Sender) base(ctx context.Context, x *session) (number uint64, err error) {
	w := &baseWriter{ctx: ctx, to: x}
	if number, err = store.OutboxOf(s.opt.Store).WriteBase(ctx, w, s.opt.Bodies); err != nil {
		return 0, err
	}
	if err := w.flush(); err != nil {
		return 0, err
	}
	return number, x.push(ctx, frame{Kind: kindBaseEnd, Number: number, Bodies: s.opt.Bodies})
}

// baseWriter cuts a base into frames.
type baseWriter struct {
	ctx  context.Context // of the one call of base
	to   *session
	data []byte
}

func (w *baseWriter) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		n := min(len(rest), frameBytes-len(w.data))
		w.data, rest = append(w.data, rest[:n]...), rest[n:]
		if len(w.data) == frameBytes {
			if err := w.flush(); err != nil {
				return 0, err
			}
		}
	}
	return len(b), nil
}

func (w *baseWriter) flush() error {
	data := w.data
	w.data = nil
	return w.to.push(w.ctx, frame{Kind: kindBase, Bytes: data})
}

// follow sends changes as they come, and trims those that the replica has.
func (s *Sender) follow(ctx context.Context, x *session, sent uint64) error {
	for last := time.Now(); ; {
		reach := s.reached() // before the outbox is read
		var err error
		if sent, err = s.sendChanges(ctx, x, sent); err != nil {
			return err
		}
		if time.Since(last) >= trimEvery {
			s.mu.Lock()
			number := s.number
			s.mu.Unlock()
			if err := s.trim(ctx, number); err != nil {
				return err
			}
			last = time.Now()
		}
		round, cancel := context.WithTimeout(ctx, trimEvery)
		err = x.await(round, func() bool { return s.reached() > reach })
		cancel()
		if err != nil && (ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded)) {
			return err
		}
	}
}

func (s *Sender) reached() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reach
}

// sendChanges sends what the outbox has above a number, and returns the last.
func (s *Sender) sendChanges(ctx context.Context, x *session, after uint64) (sent uint64, err error) {
	sent = after
	for {
		parcels, err := s.some(sent)
		if err != nil || len(parcels) == 0 {
			return sent, err
		}
		f := frame{Kind: kindChanges, Number: sent}
		for _, p := range parcels {
			for len(p.Data) > frameBytes { // the only one, see some
				if err := x.push(ctx, frame{Kind: kindPiece, Bytes: p.Data[:frameBytes]}); err != nil {
					return sent, err
				}
				p.Data = p.Data[frameBytes:]
			}
			f.Changes = append(f.Changes, entry{Number: p.Number, Bytes: p.Data})
		}
		if err := x.push(ctx, f); err != nil {
			return sent, err
		}
		sent = parcels[len(parcels)-1].Number
	}
}

// some returns the next changes, of one frame together, or one that is longer. No reading of
// the store is open while a frame waits for room.
func (s *Sender) some(after uint64) (parcels []store.Parcel, err error) {
	size := 0
	for p, err := range store.OutboxOf(s.opt.Store).Parcels(store.KeeperPart, after) {
		if err != nil {
			return nil, err
		}
		if size += len(p.Data); len(parcels) > 0 && size > frameBytes {
			break
		}
		parcels = append(parcels, p)
	}
	return parcels, nil
}
