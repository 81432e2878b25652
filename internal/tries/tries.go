// Package tries counts what tests try against fossick as a stranger or a bad disk
// would, by class of attack: what held and what fell. `scripts/tries.sh` makes one
// table of all packages' counts (docs/testing.md).
package tries

import (
	"sync"
	"testing"
)

// Class counts the tries of one class in one test. Any number of goroutines may use it.
type Class struct {
	t          testing.TB
	mu         sync.Mutex
	held, fell int
}

// Of begins to count tries of a class. When the test ends, a line of its log says how
// many held and how many fell.
func Of(t testing.TB, class string) *Class {
	c := &Class{t: t}
	t.Cleanup(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		t.Logf("tries of %s: %d held, %d fell", class, c.held, c.fell)
	})
	return c
}

// Known counts one try that fell, as is known and said where it stands. It fails nothing.
func (c *Class) Known(format string, args ...any) {
	c.t.Helper()
	c.mu.Lock()
	c.fell++
	c.mu.Unlock()
	c.t.Logf(format, args...)
}

// Try counts one try. One that fell fails the test, and format says what was seen.
func (c *Class) Try(held bool, format string, args ...any) bool {
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
