package hosts

import (
	"fmt"

	"fossick/store"
)

// often is how many failures are learned from until what all hosts share is worth a record
// again. So a kill costs the weights these at most; hosts' own records are never behind.
const often = 256

// Load returns what a store knows, for those who read it.
func Load(s *store.Store) (*Book, error) {
	b := NewChances()
	if err := b.Restore(s); err != nil {
		return nil, err
	}
	for h, err := range s.Hosts() {
		if err != nil {
			return nil, err
		}
		b.Recall(h)
	}
	return b, nil
}

// Restore takes in what a store kept of all hosts in common. What cannot be read is learned
// anew.
func (b *Book) Restore(s *store.Store) error {
	kept, err := store.Chances(s)
	if err != nil {
		return fmt.Errorf("the learned failure rates cannot be read: %w", err)
	}
	if kept == nil {
		return nil
	}
	b.failed = true
	_ = b.predictor.Restore(kept) // of another build: then it begins with paper E's figures
	return nil
}

// Recall takes in what a host's record says of it.
func (b *Book) Recall(h *store.Host) {
	if len(h.Chances) > 0 {
		b.failed = true
		b.recall(h)
	}
}

func (b *Book) recall(h *store.Host) {
	if len(h.Chances) > 0 {
		_ = b.predictor.RestoreHost(h.Name, h.Chances) // of another build: the host begins anew
	}
}

// Due says whether what all hosts share is worth a record by now; last, at the end of a
// session.
func (b *Book) Due(last bool) bool { return b.unsaved >= often || last && b.unsaved > 0 }

// Kept is that record.
func (b *Book) Kept() []byte {
	b.unsaved = 0
	return b.predictor.Kept()
}
