package cluster

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// memory is an exchange that loses nothing, for as many agents as ask for a part of it.
type memory struct {
	mu     sync.Mutex
	values map[string]Value
	rev    uint64
	boxes  map[AgentID]chan []byte
	closed chan struct{}
}

func newMemory(ids ...AgentID) *memory {
	m := &memory{values: map[string]Value{}, boxes: map[AgentID]chan []byte{}, closed: make(chan struct{})}
	for _, id := range ids {
		m.boxes[id] = make(chan []byte, 1000)
	}
	return m
}

// end is one agent's part of it.
type end struct {
	*memory
	id AgentID
}

func (e end) Send(ctx context.Context, to AgentID, message []byte) error {
	select {
	case e.boxes[to] <- slices.Clone(message):
	default:
	}
	return nil
}

func (e end) Receive(ctx context.Context) ([]byte, error) {
	select {
	case b := <-e.boxes[e.id]:
		return b, nil
	case <-e.closed:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (e end) Swap(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.values[key].Revision != revision {
		return 0, ErrRevision
	}
	e.rev++
	e.values[key] = Value{slices.Clone(value), e.rev}
	return e.rev, nil
}

func (e end) Values(ctx context.Context, keys ...string) (map[string]Value, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	some := maps.Clone(e.values)
	maps.DeleteFunc(some, func(key string, _ Value) bool { return len(keys) > 0 && !slices.Contains(keys, key) })
	return some, nil
}

func (e end) Close() error { close(e.closed); return nil }

// counting is an engine whose web is numbers: each partition has one page, and each page leads
// to the next partition's.
type counting struct {
	agent *Agent
	name  string
	done  func(p Partition)

	mu      sync.Mutex // guards what follows
	own     map[Partition]uint64
	waiting map[Partition]bool
	fetched map[Partition]bool
	outbox  map[Partition][]Parcel
	report  Report
	ended   string
	keepers []AgentID // as named
	heard   []string

	outlived []AgentID
}

func newCounting(name string) *counting {
	return &counting{name: name, own: map[Partition]uint64{}, waiting: map[Partition]bool{}, fetched: map[Partition]bool{}, outbox: map[Partition][]Parcel{}}
}

func (c *counting) Recover() (Recovered, error) { return Recovered{}, nil }

func (c *counting) Report() Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.report
	r.Pages, r.Workers = int64(len(c.fetched)), 4
	for p := range c.waiting {
		if _, own := c.own[p]; own {
			r.Waiting++
		}
	}
	for _, parcels := range c.outbox {
		r.Outbox += int64(len(parcels))
	}
	return r
}

func (c *counting) Own(gained []Holding, lost, passed []Partition) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range lost {
		delete(c.own, p)
	}
	for _, g := range gained {
		c.own[g.Partition] = g.Epoch
		c.report.Epoch = max(c.report.Epoch, g.Epoch)
		if g.Partition == 0 && !c.fetched[0] {
			c.waiting[0] = true
		}
	}
}

func (c *counting) Release(p Partition, epoch uint64) {
	c.mu.Lock()
	delete(c.own, p)
	c.mu.Unlock()
	c.agent.Released(p, epoch)
}

func (c *counting) Outbox(p Partition, after uint64, bytes int) ([]Parcel, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	parcels := c.outbox[p]
	return slices.DeleteFunc(slices.Clone(parcels), func(parcel Parcel) bool { return parcel.Number <= after }), nil
}

func (c *counting) Trim(p Partition, upto uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.outbox[p] = slices.DeleteFunc(c.outbox[p], func(parcel Parcel) bool { return parcel.Number <= upto })
}

func (c *counting) Take(d Delivery) {
	c.mu.Lock()
	_, own := c.own[d.Partition]
	if own && !c.fetched[d.Partition] {
		c.waiting[d.Partition] = true
	}
	c.report.Moves++
	c.mu.Unlock()
	c.agent.Taken(d, own)
}

func (c *counting) Allow(pages int64, price float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report.Allowed = pages
}

func (c *counting) Keeper(id AgentID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keepers = append(c.keepers, id)
}

func (c *counting) Outlive(id AgentID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.outlived = append(c.outlived, id)
}

func (c *counting) Hear(from AgentID, told []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard = append(c.heard, string(from)+" "+string(told))
}

func (c *counting) End(why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = why
}

// crawl fetches what waits, a page every tenth of a second.
func (c *counting) crawl(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(100 * time.Millisecond):
		}
		c.mu.Lock()
		waiting := slices.Sorted(maps.Keys(c.waiting))
		c.mu.Unlock()
		for _, p := range waiting {
			if _, ok := c.agent.May(p); !ok || c.Report().Pages >= c.Report().Allowed {
				continue
			}
			c.mu.Lock()
			delete(c.waiting, p)
			c.fetched[p] = true
			c.report.Moves++
			number, next := uint64(c.report.Moves), p+1
			if next < simParts {
				c.outbox[next] = append(c.outbox[next], Parcel{Number: number, Bytes: []byte("next")})
			}
			c.mu.Unlock()
			c.done(p)
			if next < simParts {
				c.agent.Queued(next, number)
			}
			break
		}
	}
}

// TestAgents: three agents make one crawl of it, each page once, and end together.
func TestAgents(t *testing.T) {
	for _, c := range []struct {
		name     string
		maxPages int64
		pages    int
		why      string
	}{{"all there is", 0, simParts, EndedEmpty}, {"a budget", 4, 4, EndedPages}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { agentsCrawl(t, c.maxPages, c.pages, c.why, nil) })
		})
	}
}

func agentsCrawl(t *testing.T, maxPages int64, pages int, why string, spoil func(m *memory)) {
	ids := []AgentID{"0000000000000001", "0000000000000002", "0000000000000003"}
	m := newMemory(ids...)
	var mu sync.Mutex
	seen := map[Partition]int{}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	var wg sync.WaitGroup
	var engines []*counting
	for _, id := range ids {
		e := newCounting(string(id))
		e.done = func(p Partition) { mu.Lock(); seen[p]++; mu.Unlock() }
		e.agent = NewAgent(Options{ID: id, Lease: 3 * time.Second, Longest: time.Second, MaxPages: maxPages, parts: simParts}, end{m, id}, e)
		engines = append(engines, e)
		wg.Go(func() {
			if err := e.agent.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() { e.crawl(ctx) })
	}
	for _, e := range engines {
		for e.why() == "" && ctx.Err() == nil {
			if spoil != nil {
				spoil(m)
			}
			time.Sleep(time.Second)
		}
		if e.why() != why {
			t.Errorf("%s ended because of %q, want %q", e.name, e.why(), why)
		}
	}
	cancel()
	wg.Wait()
	if len(seen) != pages {
		t.Errorf("pages fetched: %v, want %d of them", seen, pages)
	}
	for p, n := range seen {
		if n != 1 {
			t.Errorf("page %d was fetched %d times", p, n)
		}
	}
}

func (c *counting) why() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// TestAgentLeaves: one that leaves hands all over, and Run returns; one whose exchange is closed
// says so; one whose context ends returns at once.
func TestAgentLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ids := []AgentID{"0000000000000001", "0000000000000002"}
		m := newMemory(ids...)
		ctx, cancel := context.WithCancel(t.Context())
		returned := map[AgentID]chan error{}
		engines := map[AgentID]*counting{}
		for _, id := range ids {
			e := newCounting(string(id))
			e.report.Waiting = 1 // something is always left to do
			e.agent = NewAgent(Options{ID: id, Lease: 3 * time.Second, parts: simParts}, end{m, id}, e)
			engines[id], returned[id] = e, make(chan error, 1)
			result := returned[id]
			go func() { result <- e.agent.Run(ctx) }()
		}
		time.Sleep(30 * time.Second)
		held := func(id AgentID) (n int) {
			for p := range Partition(simParts) {
				if _, ok := engines[id].agent.May(p); ok {
					n++
				}
			}
			return n
		}
		if a, b := held(ids[0]), held(ids[1]); a != simParts/2 || b != simParts/2 {
			t.Errorf("partitions: %d and %d, want half each", a, b)
		}
		engines[ids[0]].agent.Tell(ids[1], []byte("hello"))
		engines[ids[0]].agent.Tell(ids[1], make([]byte, mostToldBytes+1))
		engines[ids[0]].agent.Leave()
		if err := <-returned[ids[0]]; err != nil {
			t.Errorf("leaving: %v", err)
		}
		time.Sleep(30 * time.Second)
		if n := held(ids[1]); n != simParts {
			t.Errorf("the one that stays has %d partitions of %d", n, simParts)
		}
		stays := engines[ids[1]]
		stays.mu.Lock()
		if k := stays.keepers; len(k) < 2 || k[len(k)-2] != ids[0] || k[len(k)-1] != "" {
			t.Errorf("keepers of the one that stays: %q", k)
		}
		if want := []string{string(ids[0]) + " hello"}; !slices.Equal(stays.heard, want) {
			t.Errorf("it heard %q, want %q", stays.heard, want)
		}
		if len(stays.outlived) > 0 {
			t.Errorf("it outlived %q, who left as it should", stays.outlived)
		}
		stays.mu.Unlock()
		close(m.closed)
		if err := <-returned[ids[1]]; !errors.Is(err, ErrClosed) {
			t.Errorf("the exchange was closed: %v", err)
		}
		cancel()
		e := newCounting("late")
		e.agent = NewAgent(Options{ID: "0000000000000003", parts: simParts}, end{newMemory("0000000000000003"), "0000000000000003"}, e)
		if err := e.agent.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("the context has ended: %v", err)
		}
	})
}

// A machine that slept may not fetch until a heartbeat that it sent afterwards is accepted.
func TestSlept(t *testing.T) {
	var c clocks
	for _, step := range []struct {
		ahead    time.Duration
		sent, ok bool // a heartbeat was sent; and accepted
		slept    bool
	}{
		{ahead: 100 * time.Millisecond},
		{ahead: 7 * time.Second, slept: true},
		{ahead: 7 * time.Second, sent: true, slept: true},
		{ahead: 7 * time.Second, ok: true},
		{ahead: -time.Hour}, // somebody set the clock
		{ahead: 8 * time.Second, sent: false, slept: true},
	} {
		if step.sent {
			c.sent = step.ahead
		}
		if step.ok {
			c.accepted = c.sent
		}
		if got := c.slept(step.ahead, 10*time.Second); got != step.slept {
			t.Errorf("%+v: slept %v", step, got)
		}
	}
}
