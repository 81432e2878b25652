package cluster

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fossick/internal/testkit"
	"fossick/internal/wire"
)

func agentName(i int) AgentID { return AgentID(fmt.Sprintf("%016x", i+1)) }

func names(n int) (ids []AgentID) {
	for i := range n {
		ids = append(ids, agentName(i))
	}
	return ids
}

var errDied = errors.New("died")

// mortalLife is one process of an agent.
type mortalLife struct {
	dead       chan struct{} // closed at its death
	operations atomic.Int64  // until its death; 0: it does not die of them
}

func newLife(operations int) *mortalLife {
	l := &mortalLife{dead: make(chan struct{})}
	l.operations.Store(int64(operations))
	return l
}

// mortal is a process's connection to an exchange. It sends nothing after its death.
type mortal struct {
	Exchange
	*mortalLife
}

func (m mortal) died() error {
	if m.operations.Load() > 0 && m.operations.Add(-1) == 0 {
		close(m.dead)
	}
	select {
	case <-m.dead:
		return errDied
	default:
		return nil
	}
}

func (m mortal) Send(ctx context.Context, to AgentID, b []byte) error {
	if err := m.died(); err != nil {
		return err
	}
	return m.Exchange.Send(ctx, to, b)
}

func (m mortal) Receive(ctx context.Context) ([]byte, error) {
	ctx, done := context.WithCancelCause(ctx)
	defer done(nil)
	go func() {
		select {
		case <-m.dead:
			done(errDied)
		case <-ctx.Done():
		}
	}()
	b, err := m.Exchange.Receive(ctx)
	return b, errors.Join(err, m.died())
}

func (m mortal) Swap(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	if err := m.died(); err != nil {
		return 0, err
	}
	return m.Exchange.Swap(ctx, key, value, revision)
}

func (m mortal) Values(ctx context.Context, keys ...string) (map[string]Value, error) {
	if err := m.died(); err != nil {
		return nil, err
	}
	return m.Exchange.Values(ctx, keys...)
}

type taskWorld struct {
	hub  *Hub
	seed uint64
}

// run has an agent take part until its death.
func (w *taskWorld) run(ctx context.Context, opt Task, life *mortalLife, work func(context.Context, TaskSession) error) error {
	n := uint64(0)
	opt.Name = "test"
	if life == nil {
		life = newLife(0)
	}
	opt.Open = func(_ context.Context, at AgentID) (Exchange, error) {
		e, err := w.hub.Open(at)
		n++
		return mortal{newLossy(e, w.seed*100+n), life}, err
	}
	ctx, stop := context.WithTimeout(ctx, time.Hour) // bounds the synctest bubble
	defer stop()
	return opt.Run(ctx, work)
}

// talk returns message n from one peer to another; some are long.
func talk(from, to, n int) []byte {
	r := rand.New(rand.NewPCG(uint64(from*1000+to), uint64(n)))
	size := r.IntN(20)
	if r.IntN(8) == 0 {
		size = r.IntN(6 * partBytes)
	}
	b := binary.LittleEndian.AppendUint64(nil, uint64(n))
	return append(b, bytes.Repeat([]byte{byte(r.Uint32())}, size)...)
}

// chat sends count messages to all other peers and receives theirs in order.
func chat(ctx context.Context, p *peer, me, peers, count int) error {
	for n := range count {
		for to := range peers {
			if to != me {
				if err := p.Send(ctx, to, talk(me, to, n)); err != nil {
					return err
				}
			}
		}
	}
	next := make([]int, peers)
	for range count * (peers - 1) {
		from, b, err := p.Receive(ctx)
		if err != nil {
			return err
		}
		if want := talk(from, me, next[from]); !bytes.Equal(b, want) {
			return fmt.Errorf("from %d to %d came %x of %d bytes as number %d, want %d bytes", from, me, b[:8], len(b), next[from], len(want))
		}
		next[from]++
	}
	return nil
}

// TestTask: of all frames a fifth each is lost, late and doubled. Still all messages arrive once
// and in order, and all agents end.
func TestTask(t *testing.T) {
	for seed := range testkit.Rounds(5, 60) {
		synctest.Test(t, func(t *testing.T) {
			agents, count := 1+seed%4, 30
			w := &taskWorld{NewHub(), uint64(seed)}
			var g sync.WaitGroup
			for i := range agents {
				opt := Task{Me: agentName(i), Named: names(agents)}
				if seed%2 == 0 {
					opt.Named, opt.Agents = nil, agents
				}
				g.Go(func() {
					time.Sleep(time.Duration(i) * 7 * time.Second)
					err := w.run(t.Context(), opt, nil, func(ctx context.Context, s TaskSession) error {
						if s.Me != i || s.Agents != agents {
							t.Errorf("agent %d of %d: %+v", i, agents, s)
						}
						return chat(ctx, s.Peer, i, agents, count)
					})
					if err != nil {
						t.Errorf("seed %d, agent %d: %v", seed, i, err)
					}
				})
			}
			g.Wait()
		})
	}
}

// TestTaskDeaths: if an agent dies and comes back, all start again.
func TestTaskDeaths(t *testing.T) {
	const agents = 3
	for seed := range testkit.Rounds(9, 50) {
		synctest.Test(t, func(t *testing.T) {
			w := &taskWorld{NewHub(), uint64(seed)}
			r := rand.New(rand.NewPCG(uint64(seed), 7))
			died, dies := seed%agents, time.Duration(3000+r.IntN(12000))*time.Millisecond
			var begins [agents]int
			var g sync.WaitGroup
			for i := range agents {
				life := func(l *mortalLife) error {
					return w.run(t.Context(), Task{Me: agentName(i), Named: names(agents)}, l, func(ctx context.Context, s TaskSession) error {
						begins[i]++
						if i == died && begins[i] == 1 {
							<-ctx.Done()
							return ctx.Err()
						}
						return chat(ctx, s.Peer, i, agents, 10)
					})
				}
				g.Go(func() {
					first := newLife(0)
					if i == died {
						time.AfterFunc(dies, func() { close(first.dead) })
					}
					err := life(first)
					if errors.Is(err, errDied) != (i == died) {
						t.Errorf("seed %d, agent %d: %v", seed, i, err)
					}
					if i == died {
						time.Sleep(time.Duration(r.IntN(60)) * time.Second)
						err = life(nil)
					}
					if err != nil {
						t.Errorf("seed %d, agent %d: %v", seed, i, err)
					}
				})
			}
			g.Wait()
			if begins != [agents]int{2, 2, 2} {
				t.Errorf("seed %d, agent %d died: began %v times", seed, died, begins)
			}
		})
	}
}

// TestGivesUp: if one agent fails or is interrupted, all end. An agent that then starts is not
// affected.
func TestGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &taskWorld{NewHub(), 1}
		wrong := errors.New("wrong")
		var g sync.WaitGroup
		for i := range 3 {
			g.Go(func() {
				err := w.run(t.Context(), Task{Me: agentName(i), Agents: 3}, nil, func(ctx context.Context, s TaskSession) error {
					if i == 1 {
						return wrong
					}
					_, _, err := s.Peer.Receive(ctx)
					return err
				})
				if i == 1 && !errors.Is(err, wrong) || i != 1 && !errors.Is(err, errGivenUp) {
					t.Errorf("agent %d: %v", i, err)
				}
			})
		}
		g.Wait()
		ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
		defer stop()
		var told []TaskStanding
		opt := Task{Me: agentName(1), Named: names(2), Progress: func(s TaskStanding) { told = append(told, s) }}
		if err := w.run(ctx, opt, nil, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("alone: %v", err)
		}
		want := TaskStanding{Here: 1, Wanted: 2, Missing: names(1)}
		if len(told) < 2 || fmt.Sprint(told[0]) != fmt.Sprint(want) {
			t.Errorf("told %+v", told)
		}
		began := time.Now()
		if err := w.run(t.Context(), Task{Me: agentName(0), Agents: 1}, nil, func(_ context.Context, s TaskSession) error {
			if s.Agents != 1 {
				t.Errorf("%+v", s)
			}
			return nil
		}); err != nil || time.Since(began) > time.Minute {
			t.Errorf("after it: %v, %v", err, time.Since(began))
		}
	})
}

const idA, idB, idC, idD = AgentID("000000000000000a"), AgentID("000000000000000b"), AgentID("000000000000000c"), AgentID("000000000000000d")

// rosterOf returns a roster of members in their first lives.
func rosterOf(session, state uint64, settings string, ids ...AgentID) roster {
	r := roster{Version: taskVersion, Session: session, State: state, Settings: settings}
	for _, id := range ids {
		r = r.with(id, 1)
	}
	return r
}

// TestStep tests an agent's step for each roster that it may find.
func TestStep(t *testing.T) {
	for _, test := range []struct {
		name   string
		me     AgentID
		agents int // 0: idA, idB and idC are named
		seat   seat
		had    roster
		want   roster
		err    error
	}{
		{name: "nothing", me: idB, want: rosterOf(50, gathering, "x", idB)},
		{name: "after another", me: idB, had: rosterOf(7, ended, "x", idA, idB, idC), want: rosterOf(50, gathering, "x", idB)},
		{name: "of an earlier clock", me: idB, had: rosterOf(77, givenUp, "x", idA, idB, idC), want: rosterOf(78, gathering, "x", idB)},
		{name: "one more", me: idB, had: rosterOf(7, gathering, "x", idC), want: rosterOf(7, gathering, "x", idB, idC)},
		{name: "the last", me: idB, had: rosterOf(7, gathering, "x", idC, idA), want: rosterOf(7, working, "x", idA, idB, idC)},
		{name: "of a number", me: idB, agents: 2, had: rosterOf(7, gathering, "x", idC), want: rosterOf(7, working, "x", idB, idC)},
		{name: "waits", me: idB, seat: seat{session: 7, life: 1}, had: rosterOf(7, gathering, "x", idB, idC), want: rosterOf(7, gathering, "x", idB, idC)},
		{name: "all came", me: idB, seat: seat{session: 7, life: 1}, had: rosterOf(7, working, "x", idA, idB, idC), want: rosterOf(7, working, "x", idA, idB, idC)},
		{name: "came back early", me: idB, had: rosterOf(7, gathering, "x", idB, idC), want: rosterOf(7, gathering, "x", idC).with(idB, 2)},
		{name: "came back", me: idB, had: rosterOf(7, working, "x", idA, idB, idC), want: rosterOf(50, gathering, "x", idB)},
		{name: "unknown to them", me: idC, had: rosterOf(7, working, "x", idA, idB), want: rosterOf(50, gathering, "x", idC)},
		{name: "one too many", me: idC, agents: 2, had: rosterOf(7, working, "x", idA, idB), err: errWithout},
		{name: "other settings", me: idB, had: rosterOf(7, working, "y", idA, idB), want: rosterOf(50, gathering, "x", idB)},
		{name: "replaced by other settings", me: idB, seat: seat{session: 7, life: 1}, had: rosterOf(8, gathering, "y", idA), err: errSettings},
		{name: "replaced by the same", me: idB, seat: seat{session: 7, life: 1}, had: rosterOf(8, gathering, "x", idA), want: rosterOf(8, gathering, "x", idA, idB)},
		{name: "twice", me: idB, seat: seat{session: 7, life: 1}, had: rosterOf(7, gathering, "x", idA).with(idB, 2), err: errTwoTasks},
		{name: "given up before it was seen", me: idB, seat: seat{session: 7, life: 1}, had: rosterOf(7, givenUp, "x", idA, idB, idC), err: errGivenUp},
	} {
		s := test.seat
		s.Task = Task{Me: test.me, Settings: "x", Agents: test.agents}
		if test.agents == 0 {
			s.Named = []AgentID{idA, idB, idC}
		}
		got, life, err := s.step(test.had, 50)
		if !errors.Is(err, test.err) {
			t.Errorf("%s: %v, want %v", test.name, err, test.err)
			continue
		}
		if err != nil {
			continue
		}
		at, _ := got.find(test.me)
		if !bytes.Equal(wire.Encode(got), wire.Encode(test.want)) || life != got.Members[at].Life {
			t.Errorf("%s: %+v in life %d; want %+v", test.name, got, life, test.want)
		}
		if same := bytes.Equal(wire.Encode(got), wire.Encode(test.had)); got.equal(test.had) != same {
			t.Errorf("%s: counts as changed: %v; %+v", test.name, same, got)
		}
	}
}

func TestVerdict(t *testing.T) {
	s := seat{Task: Task{Me: idB, Settings: "x"}, session: 7, life: 1}
	up := rosterOf(7, givenUp, "x", idA, idB)
	up.By = idA
	for want, r := range map[error]roster{
		nil: rosterOf(7, working, "x", idA, idB), errTwoTasks: rosterOf(7, working, "x", idA).with(idB, 2), errRestart: rosterOf(8, gathering, "x", idA),
		errSettings: rosterOf(8, gathering, "y", idA), errGivenUp: up,
	} {
		if err := s.verdict(r); !errors.Is(err, want) {
			t.Errorf("%+v: %v, want %v", r, err, want)
		}
	}
	if err := s.verdict(roster{}); !errors.Is(err, errRestart) { // the exchange lost all values
		t.Error(err)
	}
}

var someFrames = []peerFrame{
	{Version: taskVersion, Session: 7, From: 1, Ack: 4},
	{Version: taskVersion, Session: 1 << 60, Seq: 1, Kind: kindEnd, Bytes: []byte("text")},
	{Version: taskVersion, Session: 7, From: 3, Seq: 9, Kind: kindBye},
}

// FuzzTaskWire decodes any bytes as a frame and as a roster. Whatever is accepted must encode
// back to the same, within bounds.
func FuzzTaskWire(f *testing.F) {
	for _, one := range someFrames {
		f.Add(wire.Encode(one))
	}
	f.Add(wire.Encode(rosterOf(7, working, "rank d=0.85", idA, idB, idC)))
	f.Add(wire.Encode(roster{Version: taskVersion, Session: 1, State: ended, Members: []rosterMember{{ID: idB}, {ID: idB}}}))
	long := someFrames[1]
	long.Bytes = make([]byte, partBytes+1)
	f.Add(wire.Encode(long))
	f.Fuzz(func(t *testing.T, text []byte) {
		if got, err := decodePeerFrame(text); err == nil {
			again, err := decodePeerFrame(wire.Encode(got))
			if err != nil || !bytes.Equal(wire.Encode(again), wire.Encode(got)) || len(got.Bytes) > partBytes {
				t.Errorf("%x: %+v, then %+v, %v", text, got, again, err)
			}
		}
		if got, err := decodeRoster(text); err == nil {
			again, err := decodeRoster(wire.Encode(got))
			if err != nil || !bytes.Equal(wire.Encode(again), wire.Encode(got)) {
				t.Errorf("%x: %+v, then %+v, %v", text, got, again, err)
			}
			if !slices.IsSortedFunc(got.Members, func(a, b rosterMember) int { return bytes.Compare([]byte(a.ID), []byte(b.ID)) }) {
				t.Errorf("%x: %+v", text, got)
			}
		}
	})
}

// pairOf returns peer 0 of two in session 7. Nobody reads its exchange.
func pairOf(t *testing.T) *peer {
	t.Helper()
	e := testkit.Call(NewHub().Open(idA)).Must(t)
	t.Cleanup(func() { _ = e.Close() })
	return newPeer(e, 7, 0, []AgentID{idA, idB}, time.Second)
}

// TestPeerStrangers: a peer accepts frames only of this session, once.
func TestPeerStrangers(t *testing.T) {
	right := peerFrame{Version: taskVersion, Session: 7, From: 1, Seq: 1, Kind: kindEnd, Bytes: []byte("text")}
	for name, change := range map[string]func(f *peerFrame){
		"of another session":   func(f *peerFrame) { f.Session = 6 },
		"of a later session":   func(f *peerFrame) { f.Session = 8 },
		"of itself":            func(f *peerFrame) { f.From = 0 },
		"of nobody":            func(f *peerFrame) { f.From = 2 },
		"of another version":   func(f *peerFrame) { f.Version++ },
		"beyond the window":    func(f *peerFrame) { f.Seq = 1 << 40 },
		"after a missing one":  func(f *peerFrame) { f.Seq = 2 },
		"without the last bit": func(f *peerFrame) { f.Kind = kindPart },
	} {
		p, f := pairOf(t), right
		change(&f)
		if err := p.handle(t.Context(), wire.Encode(f)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(p.inbox) != 0 {
			t.Errorf("%s: heard %q", name, p.inbox[0].bytes)
		}
		if f.Kind == kindPart {
			continue // more of it may follow
		}
		if err := p.handle(t.Context(), wire.Encode(right)); err != nil || len(p.inbox) == 0 || string(p.inbox[0].bytes) != "text" {
			t.Errorf("after one %s: %v, %d messages", name, err, len(p.inbox)) // the wrong frame affected the right one
		}
	}
	p := pairOf(t)
	for range 2 {
		if err := p.handle(t.Context(), wire.Encode(right)); err != nil {
			t.Error(err)
		}
	}
	if len(p.inbox) != 1 {
		t.Errorf("%d messages of a repeated frame", len(p.inbox))
	}
}

// TestPeerFull: messages to a peer that takes none are limited, and no peer sends to itself.
func TestPeerFull(t *testing.T) {
	p := pairOf(t)
	var err error
	n := 0
	for ; err == nil && n < 10*mostQueued; n++ {
		err = p.Send(t.Context(), 1, []byte("text"))
	}
	if window := p.links[1].window; !errors.Is(err, errPeerFull) || n != window+mostQueued+1 {
		t.Errorf("%v after %d messages, with a window of %d", err, n, window)
	}
	for _, to := range []int{0, 2, -1} {
		if err := p.Send(t.Context(), to, nil); !errors.Is(err, errWire) {
			t.Errorf("to %d: %v", to, err)
		}
	}
	ctx, stop := context.WithCancelCause(t.Context())
	why := fmt.Errorf("enough")
	stop(why)
	if _, _, err := p.Receive(ctx); !errors.Is(err, why) {
		t.Error(err)
	}
}

// lossy is an exchange that loses, doubles and delays messages.
type lossy struct {
	Exchange
	late sync.WaitGroup

	mu     sync.Mutex // guards the rest
	rng    *rand.Rand
	closed bool
}

// newLossy returns an exchange that loses, doubles and delays by four to eight seconds a fifth
// each of the messages to others. Close waits for late messages, so it needs a synctest bubble.
func newLossy(e Exchange, seed uint64) Exchange {
	return &lossy{Exchange: e, rng: rand.New(rand.NewPCG(seed, 4))}
}

func (e *lossy) Send(ctx context.Context, to AgentID, message []byte) error {
	e.mu.Lock()
	chance, closed := e.rng.Float64(), e.closed
	if late := chance >= .2 && chance < .4 && !closed; late {
		message := bytes.Clone(message)
		e.late.Go(func() {
			time.Sleep(time.Duration(chance * float64(20*time.Second)))
			_ = e.Exchange.Send(context.WithoutCancel(ctx), to, message) // an error is a lost message
		})
	}
	e.mu.Unlock()
	switch {
	case closed:
		return ErrClosed
	case chance < .4:
		return nil
	case chance < .6:
		_ = e.Exchange.Send(ctx, to, message) // the second send returns the error
	}
	return e.Exchange.Send(ctx, to, message)
}

func (e *lossy) Close() error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.late.Wait()
	return e.Exchange.Close()
}
