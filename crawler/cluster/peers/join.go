package peers

import (
	"context"
	"errors"
	"slices"
	"time"

	"fossick/crawler/cluster"
	"fossick/internal/wire"
)

// seat is an agent's place in a roster.
type seat struct {
	opt     *Options
	session uint64 // 0: none yet
	life    uint64
	again   bool // it was in before, and died
}

// key is where the roster is.
func (s *seat) key() string { return "task." + s.opt.Task }

// read returns the roster, the zero one where there is none, and its revision.
func (s *seat) read(ctx context.Context, e cluster.Exchange) (r roster, revision uint64, err error) {
	values, err := e.Values(ctx, s.key())
	if err != nil {
		return r, 0, err
	}
	v, ok := values[s.key()]
	if !ok {
		return r, 0, nil
	}
	r, err = decodeRoster(v.Bytes)
	if errors.Is(err, ErrWire) { // of another version, which nobody here understands: it is replaced
		return roster{}, v.Revision, nil
	}
	return r, v.Revision, err
}

// gather waits until all are there.
func (s *seat) gather(ctx context.Context, e cluster.Exchange) (roster, error) {
	for {
		was, revision, err := s.read(ctx, e)
		if err != nil {
			return was, err
		}
		now, got, err := s.step(was, uint64(time.Now().UnixNano()))
		if err != nil {
			return was, err
		}
		if got.changed {
			_, err := e.Swap(ctx, s.key(), wire.Encode(now), revision)
			if errors.Is(err, cluster.ErrRevision) {
				continue // another came first
			}
			if err != nil {
				return was, err
			}
		}
		s.session, s.life, s.again = now.Session, got.life, got.again
		if now.State == working {
			return now, nil
		}
		s.tell(now)
		if err := s.pause(ctx, e); err != nil {
			return now, err
		}
	}
}

// pause waits until it is time to look again, or a message shows that the others have begun.
func (s *seat) pause(ctx context.Context, e cluster.Exchange) error {
	wait, stop := context.WithTimeout(ctx, s.opt.Poll)
	defer stop()
	for {
		b, err := e.Receive(wait)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case wait.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		if f, err := decodeFrame(b); err == nil && f.Session >= s.session {
			return nil
		}
	}
}

// got is what a step came to.
type got struct {
	life    uint64
	again   bool
	changed bool
}

// step is an agent's next step towards the task. session is a number above all before, for a
// roster that has to be new.
func (s *seat) step(r roster, session uint64) (roster, got, error) {
	me := s.opt.Me
	fresh := roster{Version: wireVersion, Session: max(session, r.Session+1), State: gathering, Settings: s.opt.Settings}
	at, in := r.find(me)
	seated := in && r.Session == s.session && r.Members[at].Life == s.life
	g := got{life: 1, changed: !seated}
	switch {
	case in && r.Session == s.session && r.Members[at].Life > s.life:
		return r, g, ErrTwice
	case seated && r.State == givenUp: // before we saw that it had begun
		return r, g, s.verdict(r)
	case r.State == done || r.State == givenUp || r.State == 0:
		r = fresh.with(me, 1)
	case r.Settings != s.opt.Settings && s.session != 0:
		return r, g, s.differs(r) // they came after us
	case r.Settings != s.opt.Settings:
		r = fresh.with(me, 1) // they may be dead, or hear of it
	case seated:
		g.life, g.again = s.life, s.again
	case in && r.State == gathering:
		g.life = r.Members[at].Life + 1
		r = r.with(me, g.life)
	case in && at == 0: // what the leader knew is gone
		r = fresh.with(me, 1)
	case in:
		g.life, g.again = r.Members[at].Life+1, true
		r = r.with(me, g.life)
	case r.State == gathering:
		r = r.with(me, 1)
	case s.opt.Agents > 0:
		return r, g, ErrWithout
	default: // it is to be of all, and these do not know of us
		r = fresh.with(me, 1)
	}
	if r.State == gathering && s.complete(r) {
		r.State, g.changed = working, true
	}
	return r, g, nil
}

// complete says whether all who are awaited are there.
func (s *seat) complete(r roster) bool {
	if s.opt.Agents > 0 {
		return len(r.Members) >= s.opt.Agents
	}
	return len(s.missing(r)) == 0
}

// missing are those by name who are not there.
func (s *seat) missing(r roster) []cluster.AgentID {
	return slices.DeleteFunc(slices.Clone(s.opt.Named), func(id cluster.AgentID) bool {
		_, in := r.find(id)
		return in
	})
}

// tell reports who is there.
func (s *seat) tell(r roster) {
	if s.opt.Progress == nil {
		return
	}
	st := Standing{Here: len(r.Members), Wanted: s.opt.Agents}
	if st.Wanted == 0 {
		st.Missing = s.missing(r)
		st.Wanted = st.Here + len(st.Missing)
	}
	s.opt.Progress(st)
}
