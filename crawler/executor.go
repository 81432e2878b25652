package crawler

import "time"

// An executor carries out jobs, and it is the owner's time: all that happens to a crawl
// comes through wait. Its methods are for the owner alone.
//
// Of each job that was started comes one outcome, the last of those that name it.
type executor interface {
	// start has a job carried out. No more are under way than there are workers, those
	// that told to be slow left aside.
	start(j *job)
	// wait returns what happens next, at the wake time at the latest; the zero time is
	// never.
	wait(wake time.Time) event
	// ready returns an outcome that there is already, nil when there is none.
	ready() *outcome
	// end returns after the last job; what comes of those under way is lost. A crawl that
	// is broken waits for none.
	end(broken bool)
}

// event is something that happens to a crawl.
type event struct {
	what    eventKind
	outcome *outcome // of jobEnded
	request request  // of ownerAsked
}

type eventKind int

const (
	jobEnded    eventKind = iota
	ownerAsked            // somebody wants something of the owner
	timeToLease           // the wake time is there
	tick                  // twice a second
	deadline              // Options.MaxTime is over
	interrupt             // the context of Run has ended
)
