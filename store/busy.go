package store

import (
	"context"
	"errors"
	"time"
)

const (
	busyPatience = 5 * time.Second
	busyPause    = 50 * time.Millisecond
)

// OpenWhenFree is Open for a crawl. A store that another process has is waited for. Who
// asks why, or says something of a page, has it for a moment. A crawl that begins in
// that moment must not fail for it. After five seconds the error wraps ErrBusy.
func OpenWhenFree(ctx context.Context, dir string) (*Store, error) {
	ctx, stop := context.WithTimeout(ctx, busyPatience)
	defer stop()
	return openWhenFree(dir, func() bool {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(busyPause):
			return true
		}
	})
}

// openWhenFree opens a store, again and again while wait says that it is worth it.
func openWhenFree(dir string, wait func() bool) (*Store, error) {
	for {
		if s, err := Open(dir); !errors.Is(err, ErrBusy) || !wait() {
			return s, err
		}
	}
}
