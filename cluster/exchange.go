package cluster

import (
	"context"
	"errors"
)

// An Exchange is what agents share: messages, and a small table of values. A message may be
// lost, doubled, late and out of order, also after Send returned; a value is not lost as long
// as most of the exchange's machines live. Safe for concurrent use.
//
// Keys and addressees are few: some an agent, never one a host or URL.
type Exchange interface {
	// Send hands a message to an agent. It does not wait for it to arrive.
	Send(ctx context.Context, to AgentID, message []byte) error
	// Receive returns the next message to this agent; it waits for one.
	Receive(ctx context.Context) ([]byte, error)
	// Swap gives a key another value if it has the revision given, 0 when it has none yet,
	// and returns the new one. ErrRevision: it has another.
	Swap(ctx context.Context, key string, value []byte, revision uint64) (uint64, error)
	// Values returns the keys given as they are, without those that have no value; all, when
	// none is given. What Swap has written before is among them, or what followed it.
	Values(ctx context.Context, keys ...string) (map[string]Value, error)
	// Close ends both; who waits hears ErrClosed.
	Close() error
}

// AgentID names an agent for as long as its store lives: 16 hexadecimal digits.
type AgentID string

// Value is what a key has.
type Value struct {
	Bytes    []byte
	Revision uint64 // rises with each Swap of any key; never used again, even if all values are lost
}

// Errors of an Exchange.
var (
	ErrRevision = errors.New("the key has another revision")
	ErrClosed   = errors.New("the exchange is closed")
)
