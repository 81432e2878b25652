package cluster

import (
	"bytes"
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// lossy is an exchange that does with messages what an exchange may do.
type lossy struct {
	Exchange
	late sync.WaitGroup

	mu     sync.Mutex // guards the rest
	rng    *rand.Rand
	closed bool
}

// newLossy makes an exchange lose a fifth of what is sent to others, double a fifth, and bring
// a fifth four to eight seconds late. It is for a synctest bubble: Close waits for what is late.
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
			_ = e.Exchange.Send(context.WithoutCancel(ctx), to, message) // or it is lost
		})
	}
	e.mu.Unlock()
	switch {
	case closed:
		return ErrClosed
	case chance < .4:
		return nil
	case chance < .6:
		_ = e.Exchange.Send(ctx, to, message) // the second says
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
