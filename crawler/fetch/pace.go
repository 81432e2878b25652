package fetch

import (
	"errors"
	"sync/atomic"
)

// Pace is how far the body of an exchange has come. The zero value is ready; it is safe
// for concurrent use.
type Pace struct {
	wire, held atomic.Int64
}

// WireBytes returns the bytes of the body that came, before decompression.
func (p *Pace) WireBytes() int64 { return p.wire.Load() }

// HeldBytes returns the bytes of the body that are held in memory; none of one that is
// streamed.
func (p *Pace) HeldBytes() int64 { return p.held.Load() }

// ErrPlaceWanted ends an exchange as slow, when a caller cancels its context with it for
// the cause: the state is the time-out of its phase.
var ErrPlaceWanted = errors.New("the slowest download, dropped while other requests waited for a place")
