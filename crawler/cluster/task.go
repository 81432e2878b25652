package cluster

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"fossick/internal/wire"
)

// Task describes common work of agents, such as ranking all their pages. It needs Me, Open, Name,
// and one of Agents and Named. If an agent dies and comes back, all start again (docs/graph.md).
type Task struct {
	Me AgentID
	// Open opens an exchange of the crawl at the agent's address in this task.
	Open     func(ctx context.Context, at AgentID) (Exchange, error)
	Name     string             // valid as part of a key
	Settings string             // must be the same for all
	Agents   int                // how many take part; 0: Named and any others that come in time
	Named    []AgentID          // agents to wait for
	Progress func(TaskStanding) // called every Poll; may be nil
	Poll     time.Duration      // how often the roster is read [2 s]
	Resend   time.Duration      // pause before a message is sent again [500 ms]
}

// TaskStanding tells which agents are present.
type TaskStanding struct {
	Here, Wanted int
	Missing      []AgentID // named agents not present; during the work, silent agents
	Working      bool      // all agents came and the work has begun
}

// TaskSession is an agent's part in a task.
type TaskSession struct {
	Me, Agents int // its number from 0, and how many take part
	Peer       *peer
}

// Errors of Task.Run, besides those of the exchange and of the work.
var (
	// errRestart reports that the task starts again.
	errRestart  = errors.New("it starts over")
	errSettings = errors.New("other agents run this command with other settings; give all of them the same settings")
	errGivenUp  = errors.New("it was given up; start the command again on all agents")
	errTwoTasks = errors.New("another process runs this command for the same agent")
	errWithout  = errors.New("enough agents take part already, without this one; give the right number of agents to all of them")
)

const (
	leaveWithin = 5 * time.Second // time limit for recording the end in the roster
	mostPeers   = 1 << 12
	taskVersion = 3 // agents of different versions cannot share a task
)

// roster lists the agents of a task. It is one value of the exchange, which any agent may swap.
type roster struct {
	_        struct{} `cbor:",toarray"`
	Version  uint64
	Session  uint64
	State    uint64
	Settings string         `most:"65536"` // must be the same for all
	By       AgentID        // the agent that gave up
	Members  []rosterMember // by name; the first records success
}

type rosterMember struct {
	_    struct{} `cbor:",toarray"`
	ID   AgentID
	Life uint64
}

const (
	gathering = 1
	working   = 2
	ended     = 3 // or to be made again
	givenUp   = 4
)

func (r *roster) find(id AgentID) (at int, ok bool) {
	return slices.BinarySearchFunc(r.Members, id, func(m rosterMember, id AgentID) int { return cmp.Compare(m.ID, id) })
}

func (r roster) equal(o roster) bool {
	return r.Version == o.Version && r.Session == o.Session && r.State == o.State && slices.Equal(r.Members, o.Members)
}

// with returns a copy of the roster that has the agent in a life.
func (r roster) with(id AgentID, life uint64) roster {
	r.Members = slices.Clone(r.Members)
	at, ok := r.find(id)
	if !ok {
		r.Members = slices.Insert(r.Members, at, rosterMember{ID: id})
	}
	r.Members[at].Life = life
	return r
}

func decodeRoster(b []byte) (r roster, err error) {
	if r, err = decode[roster]("roster", b); err != nil {
		return r, err
	}
	for i := range r.Members[min(1, len(r.Members)):] {
		if r.Members[i].ID >= r.Members[i+1].ID {
			err = errWire
		}
	}
	if err != nil || r.Version != taskVersion || r.Session == 0 || r.State < gathering || r.State > givenUp || len(r.Members) >= mostPeers {
		return r, fmt.Errorf("roster of version %d, state %d, %d agents: %w", r.Version, r.State, len(r.Members), errWire)
	}
	return r, nil
}

// taskAddress differs from the agent's own name, so that a running crawl is not disturbed.
func taskAddress(task string, id AgentID) AgentID {
	sum := sha256.Sum256([]byte("fossick peers\x00" + task + "\x00" + string(id)))
	return AgentID(hex.EncodeToString(sum[:8]))
}

type seat struct {
	Task
	session uint64 // 0: none yet
	life    uint64
}

// Run takes part until the work has succeeded at all agents. It calls work again if all start
// again. An error of the work, or the end of ctx, ends the task for all.
func (t Task) Run(ctx context.Context, work func(ctx context.Context, s TaskSession) error) (err error) {
	t.Poll, t.Resend = cmp.Or(t.Poll, 2*time.Second), cmp.Or(t.Resend, 500*time.Millisecond)
	e, err := t.Open(ctx, taskAddress(t.Name, t.Me))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	s := &seat{Task: t}
	for {
		err := s.once(ctx, e, work)
		last, stop := context.WithTimeout(context.WithoutCancel(ctx), leaveWithin)
		left := s.leave(last, e, err)
		stop()
		switch anew := errors.Is(err, errRestart); {
		case err == nil || anew && left != nil:
			return left
		case !anew:
			return err // if leave failed, the others will notice that this agent is silent
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(t.Poll):
		}
	}
}

func (s *seat) once(ctx context.Context, e Exchange, work func(context.Context, TaskSession) error) error {
	r, err := s.gather(ctx, e)
	if err != nil {
		return err
	}
	var at []AgentID
	for _, m := range r.Members {
		at = append(at, taskAddress(s.Name, m.ID))
	}
	me, _ := r.find(s.Me)
	p := newPeer(e, r.Session, me, at, s.Resend)
	ctx, stop := context.WithCancelCause(ctx)
	var beside sync.WaitGroup
	defer beside.Wait()
	defer stop(nil)
	beside.Go(func() { stop(s.watch(ctx, e, r, p)) })
	err = p.serve(ctx, func(ctx context.Context) error { return work(ctx, TaskSession{Me: me, Agents: len(at), Peer: p}) })
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return err
}

func (s *seat) key() string { return "task." + s.Name }

// read returns the roster and its revision; a zero roster if there is none.
func (s *seat) read(ctx context.Context, e Exchange) (r roster, revision uint64, err error) {
	values, err := e.Values(ctx, s.key())
	if err != nil {
		return r, 0, err
	}
	v, ok := values[s.key()]
	if !ok {
		return r, 0, nil
	}
	r, err = decodeRoster(v.Bytes)
	if errors.Is(err, errWire) { // of another version: replace it
		return roster{}, v.Revision, nil
	}
	return r, v.Revision, err
}

func (s *seat) gather(ctx context.Context, e Exchange) (roster, error) {
	for {
		was, revision, err := s.read(ctx, e)
		if err != nil {
			return was, err
		}
		now, life, err := s.step(was, uint64(time.Now().UnixNano()))
		if err != nil {
			return was, err
		}
		if !now.equal(was) {
			_, err := e.Swap(ctx, s.key(), wire.Encode(now), revision)
			if errors.Is(err, ErrRevision) {
				continue // another agent was faster
			}
			if err != nil {
				return was, err
			}
		}
		s.session, s.life = now.Session, life
		if now.State == working {
			return now, nil
		}
		if s.Progress != nil {
			st := TaskStanding{Here: len(now.Members), Wanted: s.Agents}
			if st.Wanted == 0 {
				st.Missing = s.missing(now)
				st.Wanted = st.Here + len(st.Missing)
			}
			s.Progress(st)
		}
		if err := s.pause(ctx, e); err != nil {
			return now, err
		}
	}
}

// pause waits for the next reading of the roster, or a message that shows that the others began.
func (s *seat) pause(ctx context.Context, e Exchange) error {
	wait, stop := context.WithTimeout(ctx, s.Poll)
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
		if f, err := decodePeerFrame(b); err == nil && f.Session >= s.session {
			return nil
		}
	}
}

// step returns the roster after this agent's next step, and the agent's life in it. session must
// be above all earlier ones.
func (s *seat) step(r roster, session uint64) (_ roster, life uint64, err error) {
	fresh := roster{Version: taskVersion, Session: max(session, r.Session+1), State: gathering, Settings: s.Settings}
	at, in := r.find(s.Me)
	seated := in && r.Session == s.session && r.Members[at].Life == s.life
	life = 1
	switch {
	case in && r.Session == s.session && r.Members[at].Life > s.life:
		return r, life, errTwoTasks
	case seated && r.State == givenUp: // given up before this agent saw it begin
		return r, life, s.verdict(r)
	case r.State == ended || r.State == givenUp || r.State == 0:
		r = fresh.with(s.Me, 1)
	case r.Settings != s.Settings && s.session != 0:
		return r, life, s.differs(r) // the others came later
	case r.Settings != s.Settings:
		r = fresh.with(s.Me, 1) // the others are dead, or will see this roster
	case seated:
		life = s.life
	case in && r.State == gathering:
		life = r.Members[at].Life + 1
		r = r.with(s.Me, life)
	case r.State == gathering:
		r = r.with(s.Me, 1)
	case !in && s.Agents > 0:
		return r, life, errWithout
	default: // it died during the work, or these do not know it: all start again
		r = fresh.with(s.Me, 1)
	}
	complete := len(r.Members) >= s.Agents
	if s.Agents == 0 {
		complete = len(s.missing(r)) == 0
	}
	if r.State == gathering && complete {
		r.State = working
	}
	return r, life, nil
}

func (s *seat) missing(r roster) []AgentID {
	return slices.DeleteFunc(slices.Clone(s.Named), func(id AgentID) bool {
		_, in := r.find(id)
		return in
	})
}

// watch polls the roster until the task is over for this agent, and reports silent agents.
func (s *seat) watch(ctx context.Context, e Exchange, r roster, p *peer) error {
	over := false // the roster says ended, while this agent still works
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(s.Poll):
		}
		now, _, err := s.read(ctx, e)
		if ctx.Err() != nil {
			return nil
		}
		if err == nil {
			err = s.verdict(now)
		}
		switch {
		case err != nil:
			return err
		case now.State == ended && over:
			return errRestart // this agent came back after all others had finished
		case now.State == ended:
			over = true
		case s.Progress != nil:
			st := TaskStanding{Here: len(r.Members), Wanted: len(r.Members), Working: true}
			for _, i := range p.silent() {
				if i < len(r.Members) {
					st.Missing = append(st.Missing, r.Members[i].ID)
					st.Here--
				}
			}
			s.Progress(st)
		}
	}
}

func (s *seat) verdict(now roster) error {
	at, in := now.find(s.Me)
	switch {
	case now.Session == s.session && in && now.Members[at].Life != s.life:
		return errTwoTasks
	case now.Session != s.session && now.State != 0 && now.Settings != s.Settings:
		return s.differs(now)
	case now.Session != s.session:
		return errRestart
	case now.State == givenUp:
		return fmt.Errorf("agent %s: %w", now.By, errGivenUp)
	}
	return nil
}

func (s *seat) differs(r roster) error {
	return fmt.Errorf("%w: there %s, here %s", errSettings, r.Settings, s.Settings)
}

// leave records in the roster how the task ended for this agent.
func (s *seat) leave(ctx context.Context, e Exchange, result error) error {
	for {
		r, revision, err := s.read(ctx, e)
		if err != nil {
			return err
		}
		at, in := r.find(s.Me)
		if !in || r.Session != s.session || r.Members[at].Life != s.life || r.State != gathering && r.State != working {
			return nil
		}
		switch {
		case result == nil && at > 0:
			return nil // the first agent records success
		case result == nil, errors.Is(result, errRestart):
			r.State = ended
		case r.State == working:
			r.State, r.By = givenUp, s.Me
		default:
			if r.Members = slices.Delete(slices.Clone(r.Members), at, at+1); len(r.Members) == 0 {
				r.State = ended
			}
		}
		if _, err := e.Swap(ctx, s.key(), wire.Encode(r), revision); !errors.Is(err, ErrRevision) {
			return err
		}
	}
}
