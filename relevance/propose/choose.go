package propose

import (
	"context"
	"math"
	"slices"

	"fossick/internal/page"
)

// Options say how many start pages are wanted. The zero value works.
type Options struct {
	N       int                   // proposals; 0 is 10
	Exclude func(url string) bool // candidates that must not be proposed; nil is none
}

// Proposal is a start page.
type Proposal struct {
	URL   string
	Score float64 // in [0,1], falling: what it added to those before it
	Why   string
}

// Result is what came of a source.
type Result struct {
	Proposals  []Proposal
	Candidates int // that the source had
}

// The weights of the choice.
const (
	hubShare  = 0.8 // of a score hangs on what the page leads to: a dead end keeps a fifth
	covered   = 0.5 // what a target still counts for each proposal that leads to it
	sameHost  = 0.7 // what a page still counts for each proposal of its host
	likeSteep = 2   // how fast a page that is like a proposal loses
)

// Propose reads the source twice and returns start pages, the best first.
//
// Each is the candidate with the largest
//
//	r(p) · ((1 − h) + h · hub(p)/(hub(p) + H)) · (1 − s(p))² · 0.7^n
//
// r(p) in [0,1] being its relevance, s(p) the cosine with the likest proposal so far,
// n the proposals on its host, h hubShare, and
//
//	hub(p) = Σ_t w(t) · ½^c(t) / √(links of p)
//
// over the targets t of its links, c(t) the proposals that lead to t already. Many
// targets on topic count, and so does that they are a large part of the links. Where it
// is known how far t leads on, w(t) = r(t) · (½ + ½ · hub₀(t)/(hub₀(t) + H)), hub₀ with
// w = r and c = 0. Else w(t) is r(t). H is the mean of hub₀ over the pages on topic. It
// is the greedy choice for coverage (Nemhauser, Wolsey and Fisher 1978) of the topic's
// neighbourhood, with maximal marginal relevance (Carbonell and Goldstein 1998). Behind
// the first, no page is proposed that is off topic or leads to none on topic.
func Propose(ctx context.Context, t Topic, source Source, opt Options) (*Result, error) {
	c, err := collect(ctx, &t, source, &opt)
	if err != nil {
		return nil, err
	}
	n := opt.N
	if n == 0 {
		n = 10
	}
	return &Result{Proposals: c.choose(n), Candidates: c.count}, nil
}

// choice is a greedy choice in progress.
type choice struct {
	*collection
	leads map[uint64]int     // proposals that lead to a target, by page.Key
	hosts map[string]int     // proposals, by host
	like  []float64          // by place in the pool: cosine with the likest proposal
	worth map[uint64]float64 // w of the pool's pages
	usual float64            // H
	taken []bool
}

func (c *collection) choose(n int) (all []Proposal) {
	ch := newChoice(c)
	for range n {
		at, score := ch.next()
		if at < 0 {
			break
		}
		k := c.pool[at]
		all = append(all, Proposal{URL: k.url, Score: score, Why: ch.why(k)})
		ch.take(at)
	}
	return all
}

func newChoice(c *collection) *choice {
	ch := &choice{
		collection: c, leads: map[uint64]int{}, hosts: map[string]int{}, worth: map[uint64]float64{},
		like: make([]float64, len(c.pool)), taken: make([]bool, len(c.pool)),
	}
	hubs := make([]float64, len(c.pool))
	var sum, on float64
	for i, k := range c.pool {
		hubs[i] = ch.hub(k)
		sum, on = sum+k.relevance*hubs[i], on+k.relevance
	}
	if on > 0 {
		ch.usual = sum / on
	}
	for i, k := range c.pool {
		ch.worth[k.key] = k.relevance * (0.5 + 0.5*ch.saturated(hubs[i]))
	}
	return ch
}

// saturated is how much a hub is beside the usual one, in [0,1).
func (ch *choice) saturated(hub float64) float64 {
	if hub == 0 {
		return 0
	}
	return hub / (hub + ch.usual)
}

// hub is what a page leads to that the proposals do not.
func (ch *choice) hub(k *kept) (sum float64) {
	if len(k.links) == 0 {
		return 0
	}
	for _, l := range k.links {
		w, ok := ch.worth[l.key]
		if !ok {
			w = ch.target(l)
		}
		sum += w * math.Pow(covered, float64(ch.leads[l.key]))
	}
	return sum / math.Sqrt(float64(len(k.links)))
}

// leadsOn says whether a page is worth a place beside better ones: on topic, and with a link
// to another page on topic. Where no page of the source is known to have links, or only
// the URL is known, nothing is known of that.
func (ch *choice) leadsOn(k *kept) bool {
	if ch.links == 0 || !k.known {
		return true
	}
	return k.relevance >= onTopic && slices.ContainsFunc(k.links, func(l outLink) bool { return ch.target(l) >= onTopic })
}

// next returns the best candidate and its score; -1 when none is on topic.
func (ch *choice) next() (at int, top float64) {
	at = -1
	for i, k := range ch.pool {
		if ch.taken[i] || k.relevance <= top { // the other factors are at most 1
			continue
		}
		score := k.relevance * math.Pow(1-min(1, ch.like[i]), likeSteep) * math.Pow(sameHost, float64(ch.hosts[page.Host(k.url)]))
		if score <= top || len(ch.hosts) > 0 && !ch.leadsOn(k) {
			continue
		}
		if ch.links > 0 {
			score *= 1 - hubShare + hubShare*ch.saturated(ch.hub(k))
		}
		if score > top {
			at, top = i, score
		}
	}
	return at, top
}

// take notes a proposal.
func (ch *choice) take(at int) {
	k := ch.pool[at]
	ch.taken[at] = true
	ch.hosts[page.Host(k.url)]++
	ch.leads[k.key]++
	for _, l := range k.links {
		ch.leads[l.key]++
	}
	for i, other := range ch.pool {
		if !ch.taken[i] {
			ch.like[i] = max(ch.like[i], k.words.dot(other.words))
		}
	}
}
