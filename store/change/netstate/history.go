package netstate

import (
	"math"
	"time"
)

// Outcome is what a visit came to.
type Outcome uint8

// The outcomes.
const (
	OK        Outcome = iota // an answer with what was asked for
	Transient                // a failure that may pass, such as no answer, or 503
	Permanent                // one that seldom does, such as 404
	outcomes  = 3
	unknown   = Outcome(outcomes) // not visited yet
)

// past is what is kept of a URL, or of a host, from its visits.
type past struct {
	at   int64   // of the last visit, Unix seconds
	last Outcome // and what it came to
	run  uint8   // visits in a row with that outcome
	// Successes and visits, those long ago counting less.
	good, all float32
}

// fade is the weight of a visit after each further one: what was learned of some thirty
// visits ago counts a third. A host that was bad for a month is not bad for good.
const fade = .97

// none is the past of what was never visited.
var none = past{last: unknown}

// take takes in a visit.
func (p *past) take(at time.Time, o Outcome) {
	if o == p.last {
		p.run = min(p.run, math.MaxUint8-1) + 1
	} else {
		p.last, p.run = o, 1
	}
	p.at = at.Unix()
	p.good, p.all = p.good*fade, p.all*fade+1
	if o == OK {
		p.good++
	}
}

// share is the share of successes, taken for prior before any visit; weight is how many
// visits that counts for.
func (p *past) share(prior, weight float64) float64 {
	return (float64(p.good) + prior*weight) / (float64(p.all) + weight)
}

// gaps bounds the classes of times since a visit, in seconds.
var gaps = [...]int64{10, 60, 600, 3600, 6 * 3600, 36 * 3600, 8 * 86400}

// gapClasses is how many classes there are.
const gapClasses = len(gaps) + 1

// gap is the class of the time since the last visit. A clock that was set back makes it
// the shortest.
func (p *past) gap(at time.Time) int {
	since := at.Unix() - p.at
	for i, most := range gaps {
		if since <= most {
			return i
		}
	}
	return len(gaps)
}

// runs bounds the classes of visits in a row with one outcome.
const runClasses = 4

// inRow is the class of visits in a row: 1, 2, 3 to 7, more.
func (p *past) inRow() int {
	switch {
	case p.run <= 2:
		return int(max(p.run, 1)) - 1
	case p.run < 8:
		return 2
	}
	return 3
}
