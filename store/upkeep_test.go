package store

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fossick/internal/testkit"
)

// TestStillStore: an unused store is checked seldom, and often again from its next use.
func TestStillStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := create(t)
		var looks atomic.Int64
		free := func(dir string) (room, error) {
			looks.Add(1)
			return freeRoom(dir)
		}
		s.disk.free.Store(&free)
		within := func(d time.Duration) int64 {
			before := looks.Load()
			time.Sleep(d)
			synctest.Wait()
			return looks.Load() - before
		}
		within(2 * time.Minute)
		time.Sleep(time.Second) // between two looks
		if n := within(10 * time.Minute); n < 100 || n > 250 {
			t.Errorf("a still store: %d looks in 10 minutes, want one for stillEvery and one for syncEvery", n)
		}
		for round := range 3 {
			before := looks.Load()
			testkit.Call(s.Counts()).Must(t)
			synctest.Wait()
			if n := looks.Load() - before; n != 1 {
				t.Errorf("use %d: %d looks just after, want 1", round, n)
			}
			if n := within(10 * trimEvery); n < 9 {
				t.Errorf("use %d: %d looks in ten of trimEvery", round, n)
			}
			within(2 * time.Minute)
		}
	})
}
