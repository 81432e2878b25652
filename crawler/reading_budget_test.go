package crawler

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestBudget: reading counts, time in which the process was stopped hardly, and ctx ends it.
func TestBudget(t *testing.T) {
	now := time.Unix(0, 0)
	ctx, cancel := context.WithCancel(t.Context())
	spent := budget(ctx, func() time.Time { return now })
	after := func(d time.Duration) error {
		now = now.Add(d)
		return spent()
	}
	if err := after(time.Hour); err != nil { // counts as readingStep
		t.Fatalf("an hour away: %v", err)
	}
	for left := readingTime - readingStep; left > 0; left -= time.Millisecond {
		if err := after(time.Millisecond); err != nil {
			t.Fatalf("%v before the end: %v", left, err)
		}
	}
	if err := after(time.Millisecond); !errors.Is(err, errTooCostly) {
		t.Errorf("beyond the budget: %v", err)
	}
	cancel()
	if err := after(0); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
