package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// An Agent runs the protocol for an engine: it supplies the clock, the exchange and the
// goroutines, which the protocol itself lacks. Its methods are safe for concurrent use; Run is called once.
type Agent struct {
	opt      Options
	exchange Exchange
	engine   Engine
	start    time.Time
	wake     chan struct{} // one place: there is an event
	unsent   chan sendMessage

	mu     sync.Mutex // guards what follows
	node   *node      // nil before Run
	events []event
	clocks clocks
}

// clocks notice a machine that slept: its monotonic clock may have stood still meanwhile, so
// that a lease that is over looks as if it were not.
type clocks struct {
	sent, accepted time.Duration // how far the wall's clock was ahead of the other, at a heartbeat
}

// slept says whether the wall's clock has gone further ahead since the last heartbeat that was
// accepted than two good clocks would differ by.
func (c clocks) slept(ahead, lease time.Duration) bool { return ahead-c.accepted > lease/20 }

// A message that cannot be handed to the exchange at once is dropped beyond so many, and sent
// again by the protocol.
const mostUnsent = 256

// NewAgent returns an agent for an engine. Nothing happens before Run.
func NewAgent(opt Options, exchange Exchange, engine Engine) *Agent {
	return &Agent{opt: opt.withDefaults(), exchange: exchange, engine: engine, start: time.Now(), wake: make(chan struct{}, 1), unsent: make(chan sendMessage, mostUnsent)}
}

// May says whether a fetch may begin in a partition now, and under which epoch. Call it right
// before each request.
func (a *Agent) May(p Partition) (epoch uint64, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.node == nil || a.clocks.slept(a.ahead(), a.opt.Lease) {
		return 0, false
	}
	return a.node.may(time.Since(a.start), p)
}

// Held says whether the agent owns a partition, even if its lease has run out or it is about
// to release the partition.
func (a *Agent) Held(p Partition) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.node == nil {
		return false
	}
	_, held := a.node.hand.held[p]
	return held
}

// Ours says whether links to a partition go into the engine's own queue. All other links are
// sent as parcels.
func (a *Agent) Ours(p Partition) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.node != nil && a.node.ours(p)
}

// ahead returns how far the wall's clock has gone ahead of the monotonic one since the start.
func (a *Agent) ahead() time.Duration {
	now := time.Now()
	return now.Round(0).Sub(a.start.Round(0)) - now.Sub(a.start)
}

// Queued says that a commit put parcels into the outbox, up to a number.
func (a *Agent) Queued(p Partition, number uint64) { a.post(queuedEvent{p, number}) }

// Taken says that a delivery of Engine.Take is durable together with its cursor, or was
// dropped.
func (a *Agent) Taken(d Delivery, ok bool) { a.post(takenEvent{d, ok}) }

// Released says that the engine has released a partition, as Engine.Release asked.
func (a *Agent) Released(p Partition, epoch uint64) { a.post(releasedEvent{p, epoch}) }

// Leave hands all partitions over for good. Run returns when that is done.
func (a *Agent) Leave() { a.post(leaveEvent{}) }

// post never waits, so that an engine may call it from within its own methods.
func (a *Agent) post(ev event) {
	a.mu.Lock()
	a.events = append(a.events, ev)
	a.mu.Unlock()
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// Run takes part in the crawl until it has ended, the agent has left, or ctx ends. It returns
// after the last goroutine that it started.
func (a *Agent) Run(ctx context.Context) error {
	recovered, err := a.engine.Recover()
	if err != nil {
		return fmt.Errorf("agent %s: %w", a.opt.ID, err)
	}
	a.mu.Lock()
	a.node = newNode(a.opt, recovered)
	a.mu.Unlock()

	ctx, cancel := context.WithCancelCause(ctx)
	r := running{Agent: a, ctx: ctx}
	r.wg.Go(func() { cancel(r.receive()) })
	r.wg.Go(r.send)
	err = r.loop()
	cancel(nil)
	r.wg.Wait()
	return err
}

// running is what one call of Run has.
type running struct {
	*Agent
	ctx context.Context // of this call alone
	wg  sync.WaitGroup
}

// loop is the one that steps the node and calls the engine.
func (r *running) loop() error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-r.ctx.Done():
			return context.Cause(r.ctx)
		case <-r.wake:
			r.mu.Lock()
			events := r.events
			r.events = nil
			r.mu.Unlock()
			for _, ev := range events {
				if done, err := r.step(ev); done || err != nil {
					return err
				}
			}
		case <-timer.C:
			if done, err := r.step(tickEvent{r.engine.Report()}); done || err != nil {
				return err
			}
		}
		r.mu.Lock()
		now := time.Since(r.start)
		wait := r.node.due(now) - now
		r.mu.Unlock()
		timer.Reset(max(wait, time.Millisecond))
	}
}

// step tells the node, and does what it wants. What that leads to comes before the next event.
func (r *running) step(ev event) (done bool, err error) {
	for todo := []event{ev}; len(todo) > 0; todo = todo[1:] {
		r.mu.Lock()
		if s, ok := todo[0].(swapEvent); ok && s.revision != 0 && s.key == agentKeys+string(r.opt.ID) {
			r.clocks.accepted = r.clocks.sent
		}
		effects := r.node.step(time.Since(r.start), todo[0])
		r.mu.Unlock()
		for _, e := range effects {
			next, done, err := r.carryOut(e)
			if done || err != nil {
				return done, err
			}
			if next != nil {
				todo = append(todo, next)
			}
		}
	}
	return false, nil
}

// carryOut does what the node wants.
func (r *running) carryOut(e effect) (next event, done bool, err error) {
	switch e := e.(type) {
	case sendMessage:
		select {
		case r.unsent <- e:
		default: // the exchange is slow or gone
		}
	case swapValue:
		if e.key == agentKeys+string(r.opt.ID) {
			r.mu.Lock()
			r.clocks.sent = r.ahead()
			r.mu.Unlock()
		}
		r.wg.Go(func() { r.swap(e) })
	case askValues:
		r.wg.Go(func() { r.ask(e.keys) })
	case ownChanged:
		r.engine.Own(e.gained, e.lost, e.passed)
	case releasePartition:
		r.engine.Release(e.partition, e.epoch)
	case readOutbox:
		parcels, err := r.engine.Outbox(e.partition, e.after, e.bytes)
		if err != nil {
			return nil, false, fmt.Errorf("agent %s: %w", r.opt.ID, err)
		}
		return outgoingEvent{e.partition, e.after, parcels[:min(len(parcels), mostParcels)]}, false, nil
	case takeParcels:
		r.engine.Take(e.delivery)
	case trimOutbox:
		r.engine.Trim(e.partition, e.upto)
	case allowPages:
		r.engine.Allow(e.pages, e.price)
	case keeperNamed:
		r.engine.Keeper(e.id)
	case keptDied:
		r.engine.Outlive(e.id)
	case hearEngine:
		r.engine.Hear(e.from, e.told)
	case endCrawl:
		r.engine.End(e.why)
		return nil, true, nil
	case left:
		return nil, true, nil
	case stop:
		return nil, false, fmt.Errorf("agent %s: %w", r.opt.ID, e.reason)
	}
	return nil, false, nil
}

// swap asks the exchange, for no longer than the answer is of use. Whatever went wrong, nobody
// knows whether the value is there.
func (r *running) swap(e swapValue) {
	ctx, cancel := context.WithTimeout(r.ctx, r.opt.Lease)
	defer cancel()
	revision, err := r.exchange.Swap(ctx, e.key, e.value, e.revision)
	if err != nil {
		revision = 0
	}
	r.post(swapEvent{e.key, revision})
}

func (r *running) ask(keys []string) {
	ctx, cancel := context.WithTimeout(r.ctx, r.opt.Lease)
	defer cancel()
	values, err := r.exchange.Values(ctx, keys...)
	if err != nil {
		values = nil
	} else if values == nil {
		values = map[string]Value{}
	}
	r.post(valuesEvent{values})
}

// send hands messages to the exchange. One that it does not take is lost; the protocol sends
// it again.
func (r *running) send() {
	for {
		select {
		case <-r.ctx.Done():
			return
		case m := <-r.unsent:
			ctx, cancel := context.WithTimeout(r.ctx, r.opt.Lease)
			_ = r.exchange.Send(ctx, m.to, m.bytes) // the same as a message lost on its way
			cancel()
		}
	}
}

// receive takes messages from the exchange. It returns why there will be no more.
func (r *running) receive() error {
	for {
		b, err := r.exchange.Receive(r.ctx)
		switch {
		case r.ctx.Err() != nil:
			return nil
		case errors.Is(err, ErrClosed):
			return fmt.Errorf("agent %s: %w", r.opt.ID, err)
		case err != nil: // it may come back
			select {
			case <-r.ctx.Done():
				return nil
			case <-time.After(r.opt.Resend):
			}
			continue
		}
		r.post(messageEvent{b})
	}
}
