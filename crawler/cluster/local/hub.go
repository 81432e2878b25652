package local

import (
	"bytes"
	"fmt"
	"slices"
	"sync"

	"fossick/crawler/cluster"
	"fossick/crawler/cluster/limits"
)

// Hub is what the agents of a process share. Safe for concurrent use.
type Hub struct {
	mu       sync.Mutex // guards what follows, and the mailboxes
	boxes    map[cluster.AgentID]*mailbox
	values   map[string]cluster.Value
	revision uint64 // the last
}

// New returns a hub without agents or values.
func New() *Hub {
	return &Hub{boxes: map[cluster.AgentID]*mailbox{}, values: map[string]cluster.Value{}}
}

// Open returns an agent's exchange. One that the agent had before is closed, with the
// messages that wait in it: so it is when a process dies and starts again.
func (h *Hub) Open(id cluster.AgentID) (cluster.Exchange, error) {
	if err := limits.Agent(id); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if old := h.boxes[id]; old != nil {
		old.close()
	}
	box := &mailbox{changed: make(chan struct{})}
	h.boxes[id] = box
	return &exchange{hub: h, id: id, box: box}, nil
}

// send puts a message into its addressee's mailbox, where there is room.
func (h *Hub) send(to cluster.AgentID, message []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if box := h.boxes[to]; box != nil {
		box.put(bytes.Clone(message))
	}
}

func (h *Hub) swap(key string, value []byte, revision uint64) (uint64, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	had, ok := h.values[key]
	switch {
	case had.Revision != revision:
		return 0, fmt.Errorf("key %s: %w", key, cluster.ErrRevision)
	case !ok && len(h.values) == limits.Keys:
		return 0, fmt.Errorf("key %s: %w: %d", key, limits.ErrFull, limits.Keys)
	}
	h.revision++
	h.values[key] = cluster.Value{Bytes: bytes.Clone(value), Revision: h.revision}
	return h.revision, nil
}

func (h *Hub) some(keys []string) map[string]cluster.Value {
	h.mu.Lock()
	defer h.mu.Unlock()
	some := map[string]cluster.Value{}
	for key, v := range h.values {
		if len(keys) == 0 || slices.Contains(keys, key) {
			some[key] = cluster.Value{Bytes: bytes.Clone(v.Bytes), Revision: v.Revision}
		}
	}
	return some
}

// remove takes an agent's mailbox away, unless the agent has another by now.
func (h *Hub) remove(id cluster.AgentID, box *mailbox) {
	h.mu.Lock()
	defer h.mu.Unlock()
	box.close()
	if h.boxes[id] == box {
		delete(h.boxes, id)
	}
}

// take returns the next message of a mailbox or, where there is none, what is closed once
// that may have changed.
func (h *Hub) take(box *mailbox) (message []byte, changed <-chan struct{}, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case box.closed:
		return nil, nil, cluster.ErrClosed
	case len(box.waiting) == 0:
		return nil, box.changed, nil
	}
	message = box.waiting[0]
	box.waiting[0] = nil
	box.waiting = box.waiting[1:]
	box.size -= len(message)
	return message, nil, nil
}

// isClosed says whether a mailbox takes no more.
func (h *Hub) isClosed(box *mailbox) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return box.closed
}

// mailbox has the messages that wait for an agent. Its hub's mutex guards it.
type mailbox struct {
	waiting [][]byte
	size    int           // bytes of what waits
	changed chan struct{} // closed, and made anew, with each message
	closed  bool
}

// put adds a message, unless the mailbox is full.
func (m *mailbox) put(message []byte) {
	if len(m.waiting) == limits.Mailbox || m.size+len(message) > limits.MailboxBytes {
		return
	}
	m.waiting = append(m.waiting, message)
	m.size += len(message)
	close(m.changed)
	m.changed = make(chan struct{})
}

func (m *mailbox) close() {
	if !m.closed {
		m.closed = true
		m.waiting = nil
		close(m.changed)
	}
}
