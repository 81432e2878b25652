package cluster

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
)

// Hub is an exchange for agents of one process. Each message arrives once, unless the receiver's
// mailbox is full. Safe for concurrent use.
type Hub struct {
	mu       sync.Mutex // guards the rest, and the mailboxes
	boxes    map[AgentID]*mailbox
	values   map[string]Value
	revision uint64
}

type mailbox struct {
	hub     *Hub
	id      AgentID
	waiting [][]byte
	size    int           // bytes waiting
	changed chan struct{} // closed and replaced with each message
	closed  bool
}

// NewHub returns a hub without agents or values.
func NewHub() *Hub { return &Hub{boxes: map[AgentID]*mailbox{}, values: map[string]Value{}} }

// Open returns an agent's exchange. It closes an earlier one and drops its messages.
func (h *Hub) Open(id AgentID) (Exchange, error) {
	if err := id.Check(); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if old := h.boxes[id]; old != nil {
		old.shut()
	}
	b := &mailbox{hub: h, id: id, changed: make(chan struct{})}
	h.boxes[id] = b
	return b, nil
}

// lock locks the hub, unless the mailbox is closed or ctx has ended.
func (b *mailbox) lock(ctx context.Context) error {
	b.hub.mu.Lock()
	err := ctx.Err()
	if b.closed {
		err = fmt.Errorf("agent %s: %w", b.id, ErrClosed)
	}
	if err != nil {
		b.hub.mu.Unlock()
	}
	return err
}

func (b *mailbox) Send(ctx context.Context, to AgentID, message []byte) error {
	if err := CheckMessage(to, message); err != nil {
		return err
	}
	if err := b.lock(ctx); err != nil {
		return err
	}
	defer b.hub.mu.Unlock()
	box := b.hub.boxes[to]
	if box == nil || len(box.waiting) == MailboxMessages || box.size+len(message) > MailboxBytes {
		return nil
	}
	box.waiting = append(box.waiting, bytes.Clone(message))
	box.size += len(message)
	close(box.changed)
	box.changed = make(chan struct{})
	return nil
}

func (b *mailbox) Receive(ctx context.Context) ([]byte, error) {
	for {
		if err := b.lock(ctx); err != nil {
			return nil, err
		}
		if len(b.waiting) > 0 {
			message := b.waiting[0]
			b.waiting[0] = nil
			b.waiting = b.waiting[1:]
			b.size -= len(message)
			b.hub.mu.Unlock()
			return message, nil
		}
		changed := b.changed
		b.hub.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-changed:
		}
	}
}

func (b *mailbox) Swap(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	if err := CheckKey(key, value); err != nil {
		return 0, err
	}
	if err := b.lock(ctx); err != nil {
		return 0, err
	}
	h := b.hub
	defer h.mu.Unlock()
	had, ok := h.values[key]
	switch {
	case had.Revision != revision:
		return 0, fmt.Errorf("key %s: %w", key, ErrRevision)
	case !ok && len(h.values) == MostKeys:
		return 0, fmt.Errorf("key %s: %w: %d", key, ErrFull, MostKeys)
	}
	h.revision++
	h.values[key] = Value{Bytes: bytes.Clone(value), Revision: h.revision}
	return h.revision, nil
}

func (b *mailbox) Values(ctx context.Context, keys ...string) (map[string]Value, error) {
	if err := b.lock(ctx); err != nil {
		return nil, err
	}
	defer b.hub.mu.Unlock()
	some := map[string]Value{}
	for key, v := range b.hub.values {
		if len(keys) == 0 || slices.Contains(keys, key) {
			some[key] = Value{Bytes: bytes.Clone(v.Bytes), Revision: v.Revision}
		}
	}
	return some, nil
}

func (b *mailbox) Close() error {
	b.hub.mu.Lock()
	defer b.hub.mu.Unlock()
	b.shut()
	if b.hub.boxes[b.id] == b {
		delete(b.hub.boxes, b.id)
	}
	return nil
}

// shut closes the mailbox. The caller holds the hub's mutex.
func (b *mailbox) shut() {
	if !b.closed {
		b.closed, b.waiting = true, nil
		close(b.changed)
	}
}
