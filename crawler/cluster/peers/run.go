package peers

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"fossick/crawler/cluster"
)

// Options say what is done together and by whom. Me, Open, Task, and one of Agents and Named
// are needed.
type Options struct {
	Me cluster.AgentID
	// Open opens an exchange of the crawl for an addressee: the agent in this task, or the
	// leader.
	Open     func(ctx context.Context, at cluster.AgentID) (cluster.Exchange, error)
	Task     string            // its name, as in a key
	Settings string            // what all must have the same
	Agents   int               // how many take part; 0: who is named, and who comes
	Named    []cluster.AgentID // who is awaited
	Progress func(Standing)    // how it stands, every Poll; may be nil

	Poll   time.Duration // how often the roster is looked at [2 s]
	Resend time.Duration // pause before a message is sent again [500 ms]
}

// Standing is who is there.
type Standing struct {
	Here, Wanted int
	Missing      []cluster.AgentID // by name; of those who work together, the silent
	Working      bool              // all came, and began
}

// Session is an agent's part in what is done together.
type Session struct {
	Me, Agents int  // its number, and of how many
	Again      bool // it was at work before, and died; what others said is to be asked for
	Peer       *Peer
	Leader     *Peer // with the number Agents; nil: another one leads
}

// leaveWithin is how long the exchange may take to hear that an agent leaves.
const leaveWithin = 5 * time.Second

// Run has an agent take part until the work returns without an error, everywhere. It waits for
// all who are awaited. Work is called again when all has to begin anew, as when the
// leader died. One that ends with an error, or whose ctx ends, ends it for all.
func Run(ctx context.Context, opt Options, work func(ctx context.Context, s Session) error) (err error) {
	opt.Poll, opt.Resend = cmp.Or(opt.Poll, 2*time.Second), cmp.Or(opt.Resend, 500*time.Millisecond)
	e, err := opt.Open(ctx, address(opt.Task, "agent", opt.Me))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	s := &seat{opt: &opt}
	for {
		err := s.once(ctx, e, work)
		last, stop := context.WithTimeout(context.WithoutCancel(ctx), leaveWithin)
		left := s.leave(last, e, err)
		stop()
		switch {
		case errors.Is(err, ErrAnew) && left == nil:
		case err == nil:
			return left
		default:
			return err // who cannot say that it leaves is found to be silent
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(opt.Poll):
		}
	}
}

// once takes part in one session.
func (s *seat) once(ctx context.Context, e cluster.Exchange, work func(context.Context, Session) error) (err error) {
	r, err := s.gather(ctx, e)
	if err != nil {
		return err
	}
	me, _ := r.find(s.opt.Me)
	at, lives := s.addresses(r)
	session := Session{Me: me, Agents: len(r.Members), Again: s.again, Peer: newPeer(e, r.Session, me, at, lives, s.opt.Resend)}
	peers := []*Peer{session.Peer}
	if me == 0 {
		leads, err := s.opt.Open(ctx, at[len(at)-1])
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, leads.Close()) }()
		session.Leader = newPeer(leads, r.Session, len(r.Members), at, lives, s.opt.Resend)
		peers = append(peers, session.Leader)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	for _, p := range peers {
		g.Go(func() error {
			if err := p.greet(ctx); err != nil {
				return err
			}
			return p.run(ctx)
		})
	}
	g.Go(func() error { return s.watch(ctx, e, r, session.Peer) })
	ended := false
	g.Go(func() error {
		if err := work(ctx, session); err != nil {
			return err
		}
		ended = true
		partAll(ctx, peers)
		stop()
		return nil
	})
	if err := g.Wait(); !ended {
		return err
	}
	return nil
}

// partAll parts from all others.
func partAll(ctx context.Context, peers []*Peer) {
	var g sync.WaitGroup
	for _, p := range peers {
		g.Go(func() { p.part(ctx) })
	}
	g.Wait()
}

// addresses returns where peers are and their lives, by number.
func (s *seat) addresses(r roster) (at []cluster.AgentID, lives []uint64) {
	for _, m := range r.Members {
		at, lives = append(at, address(s.opt.Task, "agent", m.ID)), append(lives, m.Life)
	}
	leader := r.Members[0]
	return append(at, address(s.opt.Task, "leader", leader.ID)), append(lives, leader.Life)
}
