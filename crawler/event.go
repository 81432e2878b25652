package crawler

// event is something that happens to a crawl.
type event struct {
	What    kind
	Outcome *outcome // of jobEnded
	Request request  // of ownerAsked
}

type kind int

const (
	jobEnded    kind = iota
	ownerAsked       // somebody wants something of the owner
	timeToLease      // the wake time is there
	tick             // twice a second
	deadline         // Options.MaxTime is over
	interrupt        // the context of Run has ended
)
