package crawler

import (
	"time"
)

// An executor carries out jobs, and it is the owner's time: all that happens to a crawl
// comes through Wait. Its methods are for the owner alone.
//
// Of each job that was started comes one outcome, the last of those that name it.
type executor interface {
	// Start has a job carried out. No more are under way than there are workers, those
	// that told to be slow left aside.
	Start(j *workJob)
	// Wait returns what happens next, at the wake time at the latest; the zero time is
	// never.
	Wait(wake time.Time) event
	// Ready returns an outcome that there is already, nil when there is none.
	Ready() *outcome
	// End returns after the last job; what comes of those under way is lost. A crawl that
	// is broken waits for none.
	End(broken bool)
}
