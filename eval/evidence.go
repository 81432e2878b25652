package eval

import "math"

// evidence is what the pages fetched so far say of a URL by linking to it.
type evidence struct {
	parents  float64
	relevant float64 // of the parents
	sum      float64 // of the parents' scores
	best     float64
}

// tally counts the requests at a host, or in all, and the relevant pages.
type tally struct{ requests, relevant float64 }

// The parts of what is known of a URL before it is fetched; none can speak
// against a page by being larger.
const (
	partBias     = iota
	partPromise  // log-odds of the score that the crawl had of it
	partRelevant // log(1 + relevant parents)
	partShare    // share of relevant parents
	partMean     // log-odds of the parents' mean score
	partBest     // log-odds of the parents' best score
	partHost     // log-odds of the host's harvest, over that of all
	parts
)

// hostRequests is how many requests at the harvest of all a host begins with.
const hostRequests = 2

func describe(e evidence, promise float64, host, all tally) (x [parts]float64) {
	rate := (all.relevant + 1) / (all.requests + 2)
	x[partBias] = 1
	x[partPromise] = logOdds(promise)
	x[partRelevant] = math.Log1p(e.relevant)
	x[partShare] = e.relevant / e.parents
	x[partMean] = logOdds(e.sum / e.parents)
	x[partBest] = logOdds(e.best)
	x[partHost] = logOdds((host.relevant+hostRequests*rate)/(host.requests+hostRequests)) - logOdds(rate)
	return x
}

// logOdds of p in [0.001, 0.999]; what lies outside counts as the nearer end.
func logOdds(p float64) float64 {
	p = max(0.001, min(0.999, p))
	return math.Log(p / (1 - p))
}

// replay follows several crawls at once, one step of each in turn, and keeps what
// all of them together knew. A URL that two crawls fetched counts once, as the
// first to come fetched it.
type replay struct {
	thin      uint64
	redirects []map[uint64]uint64
	evidence  map[uint64]evidence
	fetched   map[uint64]bool // whether it was relevant
	hosts     map[uint64]tally
	all       tally
	examples  []example
	waiting   map[uint64]Waiting // what waits at the end, at its best promise
}

func newReplay(crawls []*Crawl) *replay {
	r := &replay{thin: 1, evidence: map[uint64]evidence{}, fetched: map[uint64]bool{}, hosts: map[uint64]tally{}, waiting: map[uint64]Waiting{}}
	longest := 0
	for _, c := range crawls {
		r.thin = max(r.thin, c.Trail.Thin)
		r.redirects = append(r.redirects, c.Trail.Redirects)
		longest = max(longest, len(c.Trail.Steps))
	}
	for i := range longest {
		for _, c := range crawls {
			if i < len(c.Trail.Steps) {
				r.step(c, &c.Trail.Steps[i])
			}
		}
	}
	for _, c := range crawls {
		for _, w := range c.Trail.Waiting {
			r.wait(w)
		}
	}
	return r
}

// target follows a redirect that any of the crawls met.
func (r *replay) target(key uint64) uint64 {
	for _, to := range r.redirects {
		if k, ok := to[key]; ok {
			return k
		}
	}
	return key
}

// step takes in what a fetch showed: the URL as an example, then its links.
func (r *replay) step(c *Crawl, s *Step) {
	if _, again := r.fetched[s.Key]; again {
		return
	}
	y := 0.0
	if s.Page >= 0 && c.Pages[s.Page].Relevant {
		y = 1
	}
	r.fetched[s.Key] = y == 1
	host := r.hosts[s.Host]
	if e, linked := r.evidence[s.Key]; linked { // a start page that nothing links to teaches nothing
		r.examples = append(r.examples, example{describe(e, s.Promise, host, r.all), y})
	}
	host.requests++
	host.relevant += y
	r.hosts[s.Host] = host
	r.all.requests++
	r.all.relevant += y
	if s.Page < 0 {
		return
	}
	score := c.Pages[s.Page].Score
	told := make(map[uint64]struct{}, len(s.Links))
	for _, key := range s.Links {
		key = r.target(key)
		if _, twice := told[key]; twice || key == s.Key || key%r.thin != 0 {
			continue // a page counts once
		}
		told[key] = struct{}{}
		e := r.evidence[key]
		e.parents++
		e.relevant += y
		e.sum += score
		e.best = max(e.best, score)
		r.evidence[key] = e
	}
}

// wait enters a URL that one of the crawls left in its queue.
func (r *replay) wait(w Waiting) {
	w.Key = r.target(w.Key)
	if _, done := r.fetched[w.Key]; done || w.Key%r.thin != 0 {
		return
	}
	if _, linked := r.evidence[w.Key]; !linked {
		return // a start page that nobody reached
	}
	if before, ok := r.waiting[w.Key]; !ok || w.Promise > before.Promise {
		r.waiting[w.Key] = w
	}
}
