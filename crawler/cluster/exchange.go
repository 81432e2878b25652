package cluster

import (
	"context"
	"errors"
)

// An Exchange connects agents by messages and a small shared table of values. A message may be
// lost, doubled, late or out of order, even after Send returned; a value is not lost as long
// as most of the exchange's machines live. Safe for concurrent use.
//
// Keys and receivers are few: several per agent, never one per host or URL.
type Exchange interface {
	// Send hands a message to an agent. It does not wait for it to arrive.
	Send(ctx context.Context, to AgentID, message []byte) error
	// Receive returns the next message to this agent; it waits for one.
	Receive(ctx context.Context) ([]byte, error)
	// Swap gives a key another value if it has the revision given, 0 when it has none yet,
	// and returns the new one. ErrRevision: it has another.
	Swap(ctx context.Context, key string, value []byte, revision uint64) (uint64, error)
	// Values returns the values of the given keys, or of all keys if none is given; keys without
	// a value are left out. A value is at least as new as any earlier Swap of its key.
	Values(ctx context.Context, keys ...string) (map[string]Value, error)
	// Close ends messages and table; calls that wait return ErrClosed.
	Close() error
}

// AgentID names an agent for as long as its store lives: 16 hexadecimal digits.
type AgentID string

// Value is the value of a key, with its revision.
type Value struct {
	Bytes    []byte
	Revision uint64 // rises with each Swap of any key; never used again, even if all values are lost
}

// Errors of an Exchange.
var (
	ErrRevision = errors.New("the key has another revision")
	ErrClosed   = errors.New("the exchange is closed")
)
