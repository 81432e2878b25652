package workers

import "fossick/crawler/work"

// Event is something that happens to a crawl.
type Event struct {
	What    Kind
	Outcome *work.Outcome // of jobEnded
	Request Request       // of ownerAsked
}

type Kind int

const (
	JobEnded    Kind = iota
	OwnerAsked       // somebody wants something of the owner
	TimeToLease      // the wake time is there
	Tick             // twice a second
	Deadline         // Options.MaxTime is over
	Interrupt        // the context of Run has ended
)
