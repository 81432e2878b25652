package testkit

import (
	"sync"
	"testing"
)

// Tally counts what tests try against fossick as a stranger or a bad disk would: in one test, for
// one class of attack, the tries that held and that fell.
// scripts/tries.sh makes one table of all (docs/CONTRIBUTING.md). It is safe for concurrent use.
type Tally struct {
	t          testing.TB
	mu         sync.Mutex
	held, fell int
}

// Tries starts counting tries of a class. When the test ends, it logs how many held and fell.
func Tries(t testing.TB, class string) *Tally {
	c := &Tally{t: t}
	t.Cleanup(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		t.Logf("tries of %s: %d held, %d fell", class, c.held, c.fell)
	})
	return c
}

// Known counts a try that fell as a documented weakness, without failing the test.
func (c *Tally) Known(format string, args ...any) {
	c.t.Helper()
	c.mu.Lock()
	c.fell++
	c.mu.Unlock()
	c.t.Logf(format, args...)
}

// Try counts a try. One that fell fails the test with the formatted message.
func (c *Tally) Try(held bool, format string, args ...any) bool {
	c.t.Helper()
	c.mu.Lock()
	if held {
		c.held++
	} else {
		c.fell++
	}
	c.mu.Unlock()
	if !held {
		c.t.Errorf(format, args...)
	}
	return held
}
