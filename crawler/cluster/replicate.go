package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"fossick/internal/wire"
	"fossick/store"
)

type senderOptions struct {
	store  *store.Store // commits put their changes into its outbox
	bodies bool         // also send pages
	send   func(to AgentID, frame []byte)
	trim   func(ctx context.Context, upto uint64) error // drops changes from the outbox
	resend time.Duration                                // pause before frames are sent again [2 s, long compared with a round trip]
	behind uint64                                       // most changes kept for a silent keeper [20,000, about 100 MB]
}

// sender sends an agent's changes to its keeper. One goroutine calls run; other methods are safe
// for concurrent use.
type sender struct {
	opt  senderOptions
	wake chan struct{} // capacity 1: some field below changed

	mu      sync.Mutex // guards the rest
	named   bool       // keeper is known
	keeper  AgentID
	session *session
	reach   uint64
	trimmed uint64 // last change dropped from the outbox
	number  uint64 // last change in the keeper's replica
	waiting []waiting
}

// waiting is a call to make once the replica has a change.
type waiting struct {
	number uint64
	do     func()
}

// session is the state of sending to one keeper. The sender's mutex guards all but id and to.
type session struct {
	id     uint64
	to     AgentID
	sent   sentFrames
	newest uint64    // newest session known to the keeper, if not this one
	run    uint64    // keeper's process at the start of the session; 0: no answer yet
	heard  time.Time // time of the last answer, or of the start
	over   bool
	silent bool // over because the keeper did not answer
}

const (
	trimEvery = time.Second // each trim costs a commit
	silentFor = time.Minute // time without an answer after which a keeper counts as silent
)

var errAnew = errors.New("another session")

func newSender(opt senderOptions) *sender {
	opt.resend = cmp.Or(opt.resend, 2*time.Second)
	opt.behind = cmp.Or(opt.behind, 20_000)
	return &sender{opt: opt, wake: make(chan struct{}, 1)}
}

// name sets the keeper; "" means none, and then nothing waits for a replica.
func (s *sender) name(id AgentID) {
	s.mu.Lock()
	if !s.named || id != s.keeper {
		if s.session != nil {
			s.session.over = true
		}
		s.named, s.keeper, s.session, s.number = true, id, nil, 0
	}
	s.mu.Unlock()
	signal(s.wake)
	s.callReady()
}

// extend sets the last change in the outbox. It ends the session of a silent keeper when too many
// wait.
func (s *sender) extend(number uint64) {
	s.mu.Lock()
	s.reach = max(s.reach, number)
	if x := s.session; x != nil && s.reach-max(s.number, s.trimmed) > s.opt.behind && !x.over && time.Since(x.heard) > silentFor {
		x.over, x.silent = true, true
	}
	s.mu.Unlock()
	signal(s.wake)
}

// when calls do, which must not block, once the replica has all up to number, or has no keeper.
func (s *sender) when(number uint64, do func()) {
	s.mu.Lock()
	s.waiting = append(s.waiting, waiting{number, do})
	s.mu.Unlock()
	s.extend(number)
	s.callReady()
}

func (s *sender) callReady() {
	s.mu.Lock()
	var ready []waiting
	s.waiting = slices.DeleteFunc(s.waiting, func(w waiting) bool {
		ok := s.named && (s.keeper == "" || w.number <= s.number)
		if ok {
			ready = append(ready, w)
		}
		return ok
	})
	s.mu.Unlock()
	for _, w := range ready {
		w.do()
	}
}

func (s *sender) handle(from AgentID, b []byte) {
	a, err := decode[answer]("answer", b)
	if err != nil {
		return
	}
	s.mu.Lock()
	x := s.session
	if x == nil || from != x.to || a.Session != x.id {
		s.mu.Unlock()
		return
	}
	x.heard = time.Now()
	if x.run == 0 {
		x.run = a.Run
	}
	switch {
	case a.Run != x.run: // the keeper restarted, and might take a late frame for this session's start
		x.over = true
	case a.Newest > x.id: // this machine's clock went back between two processes
		x.newest, x.over = a.Newest, true
	case a.Seq == 0:
		x.over = x.over || x.sent.acked > 0
	default:
		x.sent.ack(time.Now(), a.Seq)
	}
	s.number = max(s.number, a.Number)
	s.mu.Unlock()
	signal(s.wake)
	s.callReady()
}

func (s *sender) run(ctx context.Context) error {
	trimmed, err := store.OutboxOf(s.opt.store).Trimmed()
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.trimmed = trimmed
	s.mu.Unlock()
	var newest uint64
	for ctx.Err() == nil {
		s.mu.Lock()
		named, keeper := s.named, s.keeper
		var x *session
		if named && keeper != "" {
			newest = max(uint64(time.Now().UnixNano()), newest+1) // a keeper may know earlier sessions
			x = &session{id: newest, to: keeper, sent: sentFrames{resend: s.opt.resend}, heard: time.Now()}
			s.session = x
		}
		s.mu.Unlock()
		var err error
		switch {
		case x != nil:
			err = s.serve(ctx, x)
		case named: // without a keeper; a later one needs a whole base anyway
			err = s.trim(ctx, s.reached())
			select {
			case <-ctx.Done():
			case <-time.After(trimEvery):
			}
			if err == nil {
				err = s.pause(ctx, time.Minute)
			}
		default:
			err = s.pause(ctx, s.opt.resend)
		}
		if ctx.Err() != nil || err == nil {
			continue
		}
		if !errors.Is(err, errAnew) {
			return fmt.Errorf("the replica at agent %s: %w", keeper, err)
		}
		s.mu.Lock()
		newest = max(newest, x.newest)
		s.session = nil
		silent, same := x.silent, s.keeper == keeper
		s.mu.Unlock()
		if silent { // otherwise its waiting changes would fill the disk
			if err := s.trim(ctx, s.reached()); err != nil {
				return err
			}
		}
		if same { // the keeper lost the session, and may lose the next
			_ = s.pause(ctx, s.opt.resend)
		}
	}
	return nil
}

func (s *sender) pause(ctx context.Context, most time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-s.wake:
	case <-time.After(most):
	}
	return nil
}

func (s *sender) trim(ctx context.Context, upto uint64) error {
	s.mu.Lock()
	old := s.trimmed
	s.mu.Unlock()
	if upto <= old {
		return nil
	}
	if err := s.opt.trim(ctx, upto); err != nil {
		return err
	}
	s.mu.Lock()
	s.trimmed = upto
	s.mu.Unlock()
	return nil
}

func (s *sender) reached() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reach
}

// push sends a frame once the window has room.
func (s *sender) push(ctx context.Context, x *session, f frame) error {
	if err := s.await(ctx, x, func() bool { return len(x.sent.frames) < framesSent }); err != nil {
		return err
	}
	s.mu.Lock()
	f.Session, f.Seq = x.id, x.sent.next()
	b := wire.Encode(f)
	x.sent.add(time.Now(), b)
	s.mu.Unlock()
	s.opt.send(x.to, b)
	return nil
}

// await waits until holds, called under mu, returns true. Meanwhile it resends frames.
func (s *sender) await(ctx context.Context, x *session, holds func() bool) error {
	for {
		s.mu.Lock()
		over, ok := x.over, holds()
		again, wait := x.sent.again(time.Now())
		s.mu.Unlock()
		switch {
		case over:
			return errAnew
		case ok:
			return ctx.Err()
		}
		for _, b := range again {
			s.opt.send(x.to, b)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.wake:
		case <-time.After(wait):
		}
	}
}

// serve keeps a keeper's replica up to date until the session is over.
func (s *sender) serve(ctx context.Context, x *session) error {
	if err := s.push(ctx, x, frame{Kind: kindOpen, Bodies: s.opt.bodies}); err != nil {
		return err
	}
	if err := s.await(ctx, x, func() bool { return len(x.sent.frames) == 0 }); err != nil {
		return err
	}
	counts, err := s.opt.store.Counts()
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

func (s *sender) base(ctx context.Context, x *session) (number uint64, err error) {
	w := &baseWriter{push: func(b []byte) error { return s.push(ctx, x, frame{Kind: kindBase, Bytes: b}) }}
	if number, err = store.OutboxOf(s.opt.store).WriteBase(ctx, w, s.opt.bodies); err != nil {
		return 0, err
	}
	if err := w.push(w.data); err != nil {
		return 0, err
	}
	return number, s.push(ctx, x, frame{Kind: kindBaseEnd, Number: number, Bodies: s.opt.bodies})
}

type baseWriter struct {
	push func(b []byte) error
	data []byte
}

func (w *baseWriter) Write(b []byte) (int, error) {
	w.data = append(w.data, b...)
	for len(w.data) >= frameBytes {
		if err := w.push(w.data[:frameBytes]); err != nil {
			return 0, err
		}
		w.data = w.data[frameBytes:]
	}
	return len(b), nil
}

// follow sends changes as they come, and trims those that the replica has.
func (s *sender) follow(ctx context.Context, x *session, sent uint64) error {
	for last := time.Now(); ; {
		reach := s.reached() // read before the outbox
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
		err = s.await(round, x, func() bool { return s.reach > reach })
		cancel()
		if err != nil && (ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded)) {
			return err
		}
	}
}

// sendChanges sends the changes after number sent, and returns the last number.
func (s *sender) sendChanges(ctx context.Context, x *session, sent uint64) (uint64, error) {
	for {
		parcels, err := s.some(sent)
		if err != nil || len(parcels) == 0 {
			return sent, err
		}
		f := frame{Kind: kindChanges, Number: sent}
		for _, p := range parcels {
			for len(p.Data) > frameBytes { // then it is the only one, see some
				if err := s.push(ctx, x, frame{Kind: kindPiece, Bytes: p.Data[:frameBytes]}); err != nil {
					return sent, err
				}
				p.Data = p.Data[frameBytes:]
			}
			f.Changes = append(f.Changes, frameChanges{Number: p.Number, Bytes: p.Data})
		}
		if err := s.push(ctx, x, f); err != nil {
			return sent, err
		}
		sent = parcels[len(parcels)-1].Number
	}
}

// some returns the next changes that fit into a frame, or one longer change. It reads them at
// once, so that the store is not being read while a frame waits.
func (s *sender) some(after uint64) (parcels []store.Parcel, err error) {
	size := 0
	for p, err := range store.OutboxOf(s.opt.store).Parcels(store.KeeperPart, after) {
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
