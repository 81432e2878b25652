// Package limits bounds what goes through a cluster.Exchange, so that no implementation's
// memory grows with what is sent.
//
// In: keys, values, messages. Out: an error for what is too large or not a name. Start with
// Key and Message.
//
// Files: limits.go all of it.
package limits

import (
	"errors"
	"fmt"
	"regexp"

	"fossick/crawler/cluster"
)

// What an Exchange takes. All values together are some megabytes, and a message fits into
// what servers allow by default.
const (
	Keys         = 1000 // in the table; one answer of a NATS server has no more than 1,024
	keyBytes     = 128
	valueBytes   = 512 << 10
	messageBytes = 1 << 20
	MailboxBytes = 16 << 20 // of messages that wait for one agent
	Mailbox      = 8192     // messages
)

// Errors of what is not within the limits.
var (
	ErrName  = errors.New("not a name that an exchange accepts")
	ErrLarge = errors.New("larger than an exchange accepts")
	ErrFull  = errors.New("the exchange cannot hold more keys")
)

var (
	keyNamed   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_=-]*([./][A-Za-z0-9_=-]+)*$`)
	agentNamed = regexp.MustCompile(`^[0-9a-f]{16}$`)
)

// Key checks a key and its value. A key is made of letters, digits, - _ and =, in parts
// between . or /; it begins with a letter or digit.
func Key(key string, value []byte) error {
	switch {
	case len(key) > keyBytes || !keyNamed.MatchString(key):
		return fmt.Errorf("key %.40q: %w", key, ErrName)
	case len(value) > valueBytes:
		return fmt.Errorf("value of %s: %d bytes, %w: %d", key, len(value), ErrLarge, valueBytes)
	}
	return nil
}

// Agent checks an agent's name.
func Agent(id cluster.AgentID) error {
	if !agentNamed.MatchString(string(id)) {
		return fmt.Errorf("agent %.40q: %w; want 16 hexadecimal digits", id, ErrName)
	}
	return nil
}

// Message checks a message and its addressee.
func Message(to cluster.AgentID, message []byte) error {
	if err := Agent(to); err != nil {
		return err
	}
	if len(message) > messageBytes {
		return fmt.Errorf("message: %d bytes, %w: %d", len(message), ErrLarge, messageBytes)
	}
	return nil
}
