package store

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
)

// TestOpenWhenFree: a store that somebody else has is opened as soon as it is free, and
// not otherwise.
func TestOpenWhenFree(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	other, err := Create(dir, Info{Topic: "banking"})
	must(t, err)
	waits := 0
	s, err := openWhenFree(dir, func() bool {
		if waits++; waits == 3 {
			must(t, other.Close())
		}
		return true
	})
	must(t, err)
	if waits != 3 || s.Info().Topic != "banking" {
		t.Errorf("opened after %d waits, as %+v; want 3", waits, s.Info())
	}
	over, stop := context.WithCancel(t.Context())
	stop()
	if _, err := OpenWhenFree(over, dir); !errors.Is(err, ErrBusy) {
		t.Errorf("nobody waits any longer: %v, want ErrBusy", err)
	}
	must(t, s.Close())
	if _, err := OpenWhenFree(t.Context(), filepath.Join(dir, "none")); !errors.Is(err, ErrNone) {
		t.Errorf("no store: %v, want ErrNone", err)
	}
}
