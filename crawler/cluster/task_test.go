package cluster

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fossick/internal/fulltest"
)

func agentName(i int) AgentID { return AgentID(fmt.Sprintf("%016x", i+1)) }

func names(n int) (ids []AgentID) {
	for i := range n {
		ids = append(ids, agentName(i))
	}
	return ids
}

var errDied = errors.New("died")

// mortal is a process's way to an exchange. When it dies nothing goes out any more.
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

// taskWorld is agents on one hub.
type taskWorld struct {
	hub  *Hub
	seed uint64
}

// run has an agent take part until dead is closed, if it is.
func (w *taskWorld) run(ctx context.Context, opt Task, dead <-chan struct{}, work func(context.Context, TaskSession) error) error {
	n := uint64(0)
	opt.Name = "test"
	opt.Open = func(_ context.Context, at AgentID) (Exchange, error) {
		e, err := w.hub.Open(at)
		n++
		return mortal{newLossy(e, w.seed*100+n), dead}, err
	}
	ctx, stop := context.WithTimeout(ctx, time.Hour) // of the bubble
	defer stop()
	return opt.Run(ctx, work)
}

// talk is what peer from says to peer to as number n; some are long.
func talk(from, to, n int) []byte {
	r := rand.New(rand.NewPCG(uint64(from*1000+to), uint64(n)))
	size := r.IntN(20)
	if r.IntN(8) == 0 {
		size = r.IntN(6 * partBytes)
	}
	b := binary.LittleEndian.AppendUint64(nil, uint64(n))
	return append(b, bytes.Repeat([]byte{byte(r.Uint32())}, size)...)
}

// chat says so many messages to all others, and hears theirs in order.
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

// TestTask: messages of any length come once and in order from all to all, though a fifth of
// all frames is lost, a fifth late, a fifth doubled; all end when all have all.
func TestTask(t *testing.T) {
	for seed := range fulltest.Rounds(5, 200) {
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

// TestTaskDeaths: who dies and comes back is let in again, in a later life; others who hear from it
// say anew what it asks for. When the leader dies all begin anew. Each asks the leader for
// numbers in turn.
func TestTaskDeaths(t *testing.T) {
	const agents = 3
	for seed := range fulltest.Rounds(9, 150) {
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
							most /= 2 // it is not done before it dies
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

// lead answers each question by its number, until all have asked for the last. It waits for its
// end when one asks for more than most.
func lead(ctx context.Context, s TaskSession, most byte) error {
	over := map[int]bool{0: true} // the leader's own part asks nothing
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

// follow asks so many questions. It waits for its end when these are not all.
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

// TestGivesUp: when one ends with an error, or is interrupted, all end; who then starts is
// not held up by them.
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
