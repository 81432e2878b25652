package fetch

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// phase is how far an exchange has come. It decides which limit runs and what
// an error means.
type phase int

const (
	phaseConnect phase = iota // name, connection
	phaseTLS                  // handshake; under the limit of phaseConnect
	phaseHeader               // request being sent
	phaseSent                 // header awaited; under the limit of phaseHeader
	phaseBody                 // header judged, body being read
	phaseDrain                // an unwanted body's rest, read to keep the connection
)

// drainLimit bounds the time given to an unwanted body for the sake of its
// connection: a new connection costs about as much.
const drainLimit = 500 * time.Millisecond

// clock holds an exchange to its limits of time, and ends it when one is over. It is
// safe for concurrent use: timers and the transport's hooks touch it too.
type clock struct {
	opt  *Options
	pace *Pace // of the body

	mu        sync.Mutex // guards the rest
	cancel    context.CancelCauseFunc
	phase     phase
	phaseEnd  time.Time // when the present limit is over
	deadline  time.Time // when Timeout is over
	bodyStart time.Time
	timer     *time.Timer
	armed     time.Time // when timer fires; never after phaseEnd
}

// start sets the timer to the shortest limit there is. Later phases need not
// touch it: when it fires early it finds its phase's end moved, and goes on.
// Most exchanges are over before; setting a timer at every phase would wake the
// network poller each time and cost a tenth of a fast exchange.
func (c *clock) start(cancel context.CancelCauseFunc) {
	opt := c.opt
	first := min(opt.Timeout, opt.ConnectTimeout, opt.HeaderTimeout, opt.RateGrace)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel = cancel
	now := time.Now()
	c.deadline, c.armed = now.Add(opt.Timeout), now.Add(first)
	c.timer = time.AfterFunc(first, c.expire)
	c.limit(now, opt.ConnectTimeout)
}

// enter moves to phase p and starts its limit, under that of the whole.
func (c *clock) enter(p phase) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.phase = p
	now := time.Now()
	limit := c.opt.ConnectTimeout
	switch p {
	case phaseHeader:
		limit = c.opt.HeaderTimeout
	case phaseBody:
		limit = c.opt.RateGrace
		c.bodyStart = now
	case phaseDrain:
		limit = drainLimit
	}
	c.limit(now, limit)
}

// enterFrom changes the phase without a new limit, if it is still from: hooks
// of a dial that lost the race to another connection come late.
func (c *clock) enterFrom(from, to phase) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.phase == from {
		c.phase = to
	}
}

// limit ends the phase after d, or at the deadline; mu is held.
func (c *clock) limit(now time.Time, d time.Duration) {
	c.phaseEnd = now.Add(d)
	if c.phaseEnd.After(c.deadline) {
		c.phaseEnd = c.deadline
	}
	if c.phaseEnd.Before(c.armed) {
		c.arm(now)
	}
}

// arm sets the timer to the phase's end; mu is held.
func (c *clock) arm(now time.Time) {
	c.armed = c.phaseEnd
	c.timer.Reset(c.phaseEnd.Sub(now))
}

// expire runs when a limit is over: it ends the exchange, unless the limit has
// moved meanwhile or the body comes fast enough.
func (c *clock) expire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if now.Before(c.phaseEnd) {
		c.arm(now)
		return
	}
	if !now.Before(c.deadline) {
		c.cancel(&timeoutError{c.phase, fmt.Sprintf("over the time limit of %v in all", c.opt.Timeout)})
		return
	}
	if c.phase == phaseBody {
		least := float64(c.opt.MinRate) * now.Sub(c.bodyStart).Seconds()
		if float64(c.pace.wire.Load()) >= least {
			c.limit(now, min(time.Second, c.opt.RateGrace)) // look again soon
			c.arm(now)
			return
		}
		c.cancel(&timeoutError{c.phase, fmt.Sprintf("slower than %d bytes/s", c.opt.MinRate)})
		return
	}
	c.cancel(&timeoutError{c.phase, "over the time limit of its phase"})
}

// timeoutError is the cause with which a limit cancels an exchange.
type timeoutError struct {
	phase phase
	what  string
}

func (e *timeoutError) Error() string { return e.what }

// at returns the present phase.
func (c *clock) at() phase {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.phase
}

// stop ends the exchange, which is over.
func (c *clock) stop() {
	c.timer.Stop()
	c.cancel(nil)
}

// flooded ends the exchange since its server sends too much of a body. Before one is
// read the connection's error ends it: net/http then still gives a header that came first,
// however late this process gets to see it.
func (c *clock) flooded() {
	if p := c.at(); p == phaseBody || p == phaseDrain {
		c.cancel(&stateError{StateTooLarge, fmt.Errorf("%w, most of them in frames, chunks or padding around the body", errFlood)})
	}
}
