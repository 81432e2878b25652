package rates

import "math"

// Last-Modified is made up by many servers: it is the time of the answer, or of the last
// release of all pages, or stays as it is while the content changes. So it is believed of
// hosts that do not contradict themselves. Where the content is the same, a change inside
// the gap is a contradiction; where it is another, one before the gap.

const (
	// freshDays is the age, ten seconds, below which a change is taken for the time of
	// the answer.
	freshDays = 10.0 / (24 * 3600)
	// slackDays is by how much clocks and whole seconds may shift an age.
	slackDays = 2.0 / (24 * 3600)
	// believeFrom is the probability from which a host is believed: what a lie spoils is
	// more than what the truth adds.
	believeFrom = .9
	// slips is how many contradictions a true host has in so many checks, as a Beta(1, 99)
	// has it: a file is touched, or set back.
	slips = 99
)

// Checks counts what a host's Last-Modified, or another such word, could be held against.
type Checks struct{ Made, Failed int }

// truths are the checks of all hosts, and the share of true hosts among them.
type truths struct {
	hosts map[string]Checks
	share float64
}

// take checks a page's visits.
func (t *truths) take(p Page) {
	c := t.hosts[p.Host]
	for _, v := range p.Visits {
		if !v.Told || !positive(v.Days) || math.IsNaN(v.Age) {
			continue
		}
		inside := v.Age < v.Days-slackDays
		if v.Changed {
			inside = v.Age <= v.Days+slackDays
		}
		c.Made++
		if inside != v.Changed {
			c.Failed++
		}
	}
	if c.Made > 0 {
		t.hosts[p.Host] = c
	}
}

// settle estimates the share of true hosts by expectation maximisation; a host's checks
// speak by their marginal likelihood.
func (t *truths) settle() {
	t.share = .5
	for range 50 {
		sum, n := 1.0, 2.0 // as if one true host and one other were known
		for _, c := range t.hosts {
			sum += c.Truth(t.share)
			n++
		}
		t.share = sum / n
	}
}

// Truth is the probability that a host with these checks is true, at a share of true
// hosts. True hosts fail a check seldom, others by any chance from 0 to 1.
func (c Checks) Truth(share float64) float64 {
	failed, passed := float64(c.Failed), float64(c.Made-c.Failed)
	honest := math.Log(share) + logBeta(1+failed, slips+passed) - logBeta(1, slips)
	other := math.Log1p(-share) + logBeta(1+failed, 1+passed)
	return 1 / (1 + math.Exp(other-honest))
}

// logBeta is the logarithm of the beta function.
func logBeta(a, b float64) float64 {
	x, _ := math.Lgamma(a)
	y, _ := math.Lgamma(b)
	z, _ := math.Lgamma(a + b)
	return x + y - z
}

// believed says whether a host's Last-Modified is used. One that was never held against
// anything is not.
func (t *truths) believed(host string) bool {
	return t.hosts[host].Believed(t.share)
}

// Believed says whether a host with these checks is believed, at a share of true hosts.
func (c Checks) Believed(share float64) bool { return c.Made > 0 && c.Truth(share) >= believeFrom }
