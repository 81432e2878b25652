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

// mortal is a process's connection to an exchange. It sends nothing after its death.
type mortal struct {
	Exchange
	dead <-chan struct{}
}

func (m mortal) until(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-m.dead:
			cancel(errDied)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

func (m mortal) died() error {
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
	ctx, done := m.until(ctx)
	defer done()
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

// run has an agent take part, until dead is closed if it is not nil.
func (w *taskWorld) run(ctx context.Context, opt Task, dead <-chan struct{}, work func(context.Context, TaskSession) error) error {
	n := uint64(0)
	opt.Name = "test"
	opt.Open = func(_ context.Context, at AgentID) (Exchange, error) {
		e, err := w.hub.Open(at)
		n++
		return mortal{newLossy(e, w.seed*100+n), dead}, err
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
	for seed := range testkit.Rounds(5, 200) {
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
						if s.Me != i || s.Agents != agents || s.Again || (s.Leader != nil) != (i == 0) {
							t.Errorf("agent %d of %d: %+v", i, agents, s)
						}
						var all sync.WaitGroup
						var err error
						if s.Leader != nil {
							all.Go(func() { err = chat(ctx, s.Leader, agents, agents+1, count) })
						}
						mine := chat(ctx, s.Peer, i, agents+1, count)
						all.Wait()
						return errors.Join(err, mine)
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

// TestTaskDeaths: an agent that died and comes back has a later life, and the others repeat what
// it asks for. If the leader dies, all start again. Each agent asks the leader for numbers in
// turn.
func TestTaskDeaths(t *testing.T) {
	const agents = 3
	for seed := range testkit.Rounds(9, 150) {
		synctest.Test(t, func(t *testing.T) {
			w := &taskWorld{NewHub(), uint64(seed)}
			r := rand.New(rand.NewPCG(uint64(seed), 7))
			died, dies := seed%agents, time.Duration(3000+r.IntN(12000))*time.Millisecond
			var begins, returns [agents]int
			var g sync.WaitGroup
			for i := range agents {
				life := func(dead <-chan struct{}) error {
					return w.run(t.Context(), Task{Me: agentName(i), Named: names(agents)}, dead, func(ctx context.Context, s TaskSession) error {
						begins[i]++
						if s.Again {
							returns[i]++
						}
						most := byte(questions)
						if i == died && dead != nil {
							most /= 2 // not done when it dies
						}
						if s.Leader != nil {
							return lead(ctx, s, most)
						}
						return follow(ctx, s, most)
					})
				}
				g.Go(func() {
					dead := make(chan struct{})
					if i == died {
						time.AfterFunc(dies, func() { close(dead) })
					}
					err := life(dead)
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
			want, again := [agents]int{1, 1, 1}, [agents]int{}
			if want[died], again[died] = 2, 1; died == 0 {
				want, again = [agents]int{2, 2, 2}, [agents]int{}
			}
			if begins != want || returns != again {
				t.Errorf("seed %d, agent %d died: began %v times, came back %v times", seed, died, begins, returns)
			}
		})
	}
}

// lead answers each question by its number, until all have asked their last. It waits for its
// death if one asks beyond most.
func lead(ctx context.Context, s TaskSession, most byte) error {
	over := map[int]bool{0: true} // the leader's own agent asks nothing
	for len(over) < s.Agents {
		from, b, err := s.Leader.Receive(ctx)
		if err != nil {
			return err
		}
		if b[0] > most {
			<-ctx.Done()
			return ctx.Err()
		}
		if err := s.Leader.Send(ctx, from, b); err != nil {
			return err
		}
		if b[0] == questions {
			over[from] = true
		}
	}
	return nil
}

const questions = 40

// follow asks so many questions. It waits for its death if there are more to ask.
func follow(ctx context.Context, s TaskSession, most byte) error {
	for n := byte(1); n <= most; n++ {
		if err := s.Peer.Send(ctx, s.Agents, []byte{n}); err != nil {
			return err
		}
		from, b, err := s.Peer.Receive(ctx)
		if err != nil {
			return err
		}
		if from != s.Agents || !bytes.Equal(b, []byte{n}) {
			return fmt.Errorf("peer %d answers %x to %d", from, b, n)
		}
	}
	if most < questions {
		<-ctx.Done()
	}
	return ctx.Err()
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

const idA, idB, idC = AgentID("000000000000000a"), AgentID("000000000000000b"), AgentID("000000000000000c")

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
		again  bool
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
		{name: "came back", me: idB, had: rosterOf(7, working, "x", idA, idB, idC), want: rosterOf(7, working, "x", idA, idC).with(idB, 2), again: true},
		{name: "the leader came back", me: idA, had: rosterOf(7, working, "x", idA, idB, idC), want: rosterOf(50, gathering, "x", idA)},
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
		got, g, err := s.step(test.had, 50)
		if !errors.Is(err, test.err) {
			t.Errorf("%s: %v, want %v", test.name, err, test.err)
			continue
		}
		if err != nil {
			continue
		}
		at, _ := got.find(test.me)
		if !bytes.Equal(wire.Encode(got), wire.Encode(test.want)) || g.again != test.again || g.life != got.Members[at].Life {
			t.Errorf("%s: %+v, %+v; want %+v, again %v", test.name, got, g, test.want, test.again)
		}
		if same := test.had.Version != 0 && bytes.Equal(wire.Encode(got), wire.Encode(test.had)); g.changed == same {
			t.Errorf("%s: changed %v: %+v", test.name, g.changed, got)
		}
	}
}

func TestVerdict(t *testing.T) {
	s := seat{Task: Task{Me: idB, Settings: "x"}, session: 7, life: 1}
	up := rosterOf(7, givenUp, "x", idA, idB)
	up.By = idA
	for want, r := range map[error]roster{
		nil: rosterOf(7, working, "x", idA, idB), errTwoTasks: rosterOf(7, working, "x", idA).with(idB, 2), ErrAnew: rosterOf(8, gathering, "x", idA),
		errSettings: rosterOf(8, gathering, "y", idA), errGivenUp: up,
	} {
		if err := s.verdict(r); !errors.Is(err, want) {
			t.Errorf("%+v: %v, want %v", r, err, want)
		}
	}
	if err := s.verdict(roster{}); !errors.Is(err, ErrAnew) { // the exchange lost all values
		t.Error(err)
	}
}

var someFrames = []peerFrame{
	{Version: taskVersion, Session: 7, From: 1, Life: 2, Of: 3, Ack: 4},
	{Version: taskVersion, Session: 1 << 60, Life: 1, Of: 1, Seq: 1, Kind: kindEnd, Bytes: []byte("text")},
	{Version: taskVersion, Session: 7, From: 3, Life: 1, Of: 1, Seq: 9, Kind: kindBye},
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

// pairOf returns peer 0 of two in session 7, with lives 3 and 5. Nobody reads its exchange.
func pairOf(t *testing.T) *peer {
	t.Helper()
	e, err := NewHub().Open(idA)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return newPeer(e, 7, 0, []AgentID{idA, idB}, []uint64{3, 5}, time.Second)
}

// TestPeerStrangers: a peer accepts frames only from the other's present life, for its own life,
// and in this session.
func TestPeerStrangers(t *testing.T) {
	right := peerFrame{Version: taskVersion, Session: 7, From: 1, Life: 5, Of: 3, Seq: 1, Kind: kindEnd, Bytes: []byte("text")}
	for name, change := range map[string]func(f *peerFrame){
		"of another session":   func(f *peerFrame) { f.Session = 6 },
		"of a later session":   func(f *peerFrame) { f.Session = 8 },
		"of an earlier life":   func(f *peerFrame) { f.Life = 4 },
		"to an earlier life":   func(f *peerFrame) { f.Of = 2 },
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
	later := right
	later.Life = 6
	for _, f := range []peerFrame{right, right, later, right, later} {
		if err := p.handle(t.Context(), wire.Encode(f)); err != nil {
			t.Error(err)
		}
	}
	if len(p.inbox) != 2 {
		t.Errorf("%d messages, want one of each life", len(p.inbox))
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
