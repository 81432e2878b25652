package peers

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fossick/crawler/cluster"
	"fossick/internal/wire"
)

// watch looks at the roster until ctx ends, or what is done together is over for this agent.
// It tells who is silent.
func (s *seat) watch(ctx context.Context, e cluster.Exchange, r roster, p *Peer) error {
	over := false // in the roster, while here the work goes on
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(s.opt.Poll):
		}
		now, _, err := s.read(ctx, e)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if err := s.verdict(now); err != nil {
			return err
		}
		switch {
		case now.State == done && over:
			return ErrAnew // who came back when all others had all
		case now.State == done:
			over = true
		case s.opt.Progress != nil:
			st := Standing{Here: len(r.Members), Wanted: len(r.Members), Working: true}
			for _, i := range p.silent(silentFor) {
				if i < len(r.Members) {
					st.Missing = append(st.Missing, r.Members[i].ID)
					st.Here--
				}
			}
			s.opt.Progress(st)
		}
	}
}

// verdict says whether a roster that is there by now ends what this agent does.
func (s *seat) verdict(now roster) error {
	at, in := now.find(s.opt.Me)
	switch {
	case now.Session == s.session && in && now.Members[at].Life != s.life:
		return ErrTwice
	case now.Session != s.session && now.State != 0 && now.Settings != s.opt.Settings:
		return s.differs(now)
	case now.Session != s.session:
		return ErrAnew
	case now.State == givenUp:
		return fmt.Errorf("agent %s: %w", now.By, ErrGivenUp)
	}
	return nil
}

// differs says how a roster's settings are not ours.
func (s *seat) differs(r roster) error {
	return fmt.Errorf("%w: there %s, here %s", ErrSettings, r.Settings, s.opt.Settings)
}

// leave says in the roster how it ended for this agent.
func (s *seat) leave(ctx context.Context, e cluster.Exchange, ended error) error {
	for {
		r, revision, err := s.read(ctx, e)
		if err != nil {
			return err
		}
		at, in := r.find(s.opt.Me)
		if !in || r.Session != s.session || r.Members[at].Life != s.life || r.State != gathering && r.State != working {
			return nil
		}
		switch {
		case ended == nil && at > 0:
			return nil // the leader says so
		case ended == nil, errors.Is(ended, ErrAnew):
			r.State = done
		case r.State == working:
			r.State, r.By = givenUp, s.opt.Me
		default:
			if r.Members = append(r.Members[:at:at], r.Members[at+1:]...); len(r.Members) == 0 {
				r.State = done
			}
		}
		if _, err := e.Swap(ctx, s.key(), wire.Encode(r), revision); !errors.Is(err, cluster.ErrRevision) {
			return err
		}
	}
}
