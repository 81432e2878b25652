package local

import (
	"context"
	"fmt"

	"fossick/crawler/cluster"
	"fossick/crawler/cluster/limits"
)

// exchange is an agent's part of a hub.
type exchange struct {
	hub *Hub
	id  cluster.AgentID
	box *mailbox
}

// Send is cluster.Exchange's.
func (e *exchange) Send(ctx context.Context, to cluster.AgentID, message []byte) error {
	if err := limits.Message(to, message); err != nil {
		return err
	}
	if err := e.open(ctx); err != nil {
		return err
	}
	e.hub.send(to, message)
	return nil
}

// Receive is cluster.Exchange's.
func (e *exchange) Receive(ctx context.Context) ([]byte, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		message, changed, err := e.hub.take(e.box)
		if changed == nil {
			return message, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-changed:
		}
	}
}

// Swap is cluster.Exchange's.
func (e *exchange) Swap(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	if err := limits.Key(key, value); err != nil {
		return 0, err
	}
	if err := e.open(ctx); err != nil {
		return 0, err
	}
	return e.hub.swap(key, value, revision)
}

// Values is cluster.Exchange's.
func (e *exchange) Values(ctx context.Context, keys ...string) (map[string]cluster.Value, error) {
	if err := e.open(ctx); err != nil {
		return nil, err
	}
	return e.hub.some(keys), nil
}

// Close is cluster.Exchange's; what waits in the mailbox is lost.
func (e *exchange) Close() error {
	e.hub.remove(e.id, e.box)
	return nil
}

// open says why nothing can be asked for any more.
func (e *exchange) open(ctx context.Context) error {
	if e.hub.isClosed(e.box) {
		return fmt.Errorf("agent %s: %w", e.id, cluster.ErrClosed)
	}
	return ctx.Err()
}
