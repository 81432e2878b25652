package cluster

import (
	"context"
	"errors"
	"fmt"
	"regexp"
)

// Exchange connects agents by messages and a small shared table of values. A message may be lost,
// doubled, late or out of order, even after Send has returned. A value is kept while most of the
// exchange's machines live. Use few keys and receivers, never one per host or URL. Safe for
// concurrent use.
type Exchange interface {
	// Send sends a message to an agent without waiting for its arrival.
	Send(ctx context.Context, to AgentID, message []byte) error
	// Receive waits for the next message to this agent.
	Receive(ctx context.Context) ([]byte, error)
	// Swap sets a key's value and returns its new revision, or ErrRevision if the key's revision
	// is not the one given (0: no value yet).
	Swap(ctx context.Context, key string, value []byte, revision uint64) (uint64, error)
	// Values returns the values of the given keys that have one, or of all keys if none is given.
	// A value is at least as new as any earlier Swap of its key.
	Values(ctx context.Context, keys ...string) (map[string]Value, error)
	// Close closes the exchange; waiting calls return ErrClosed.
	Close() error
}

// AgentID names an agent for as long as its store exists: 16 hexadecimal digits.
type AgentID string

// Value is the value of a key, with its revision.
type Value struct {
	Bytes    []byte
	Revision uint64 // rises with each Swap of any key; never reused, even if all values are lost
}

var (
	ErrRevision = errors.New("the key has another revision")
	ErrClosed   = errors.New("the exchange is closed")
	ErrName     = errors.New("not a name that an exchange accepts")
	ErrLarge    = errors.New("larger than an exchange accepts")
	ErrFull     = errors.New("the exchange cannot hold more keys")
)

// Limits of every exchange. Messages and all values fit into the default limits of servers.
const (
	MostKeys        = 1000 // a NATS server returns at most 1,024 in one answer
	MailboxBytes    = 16 << 20
	MailboxMessages = 8192

	keyBytes     = 128
	valueBytes   = 512 << 10
	messageBytes = 1 << 20
)

var (
	keyNamed   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_=-]*([./][A-Za-z0-9_=-]+)*$`)
	agentNamed = regexp.MustCompile(`^[0-9a-f]{16}$`)
)

// CheckKey checks a key and its value. A key has letters, digits, - _ and =, in parts between .
// or /.
func CheckKey(key string, value []byte) error {
	switch {
	case len(key) > keyBytes || !keyNamed.MatchString(key):
		return fmt.Errorf("key %.40q: %w", key, ErrName)
	case len(value) > valueBytes:
		return fmt.Errorf("value of %s: %d bytes, %w: %d", key, len(value), ErrLarge, valueBytes)
	}
	return nil
}

// Check returns ErrName unless the name is valid.
func (id AgentID) Check() error {
	if !agentNamed.MatchString(string(id)) {
		return fmt.Errorf("agent %.40q: %w; want 16 hexadecimal digits", id, ErrName)
	}
	return nil
}

// CheckMessage checks a message and its receiver. Errors: ErrName, ErrLarge.
func CheckMessage(to AgentID, message []byte) error {
	if err := to.Check(); err != nil {
		return err
	}
	if len(message) > messageBytes {
		return fmt.Errorf("message: %d bytes, %w: %d", len(message), ErrLarge, messageBytes)
	}
	return nil
}
