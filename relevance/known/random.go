package known

import (
	"sync"

	"fossick/internal/page"
	"fossick/relevance"
)

// Random fetches any URL that waits, each with the same chance: the policy that
// knows nothing. A URL's priority is a hash of it, the seed and the round. A
// round ends when the queue is rescored, every few pages. So a URL that came
// late has no better chance than one that has waited long.
type Random struct {
	seed uint64

	mu    sync.Mutex
	round uint64
	asked bool // in this round for the queue
}

// NewRandom returns a policy that draws by the seed.
func NewRandom(seed uint64) *Random { return &Random{seed: seed} }

// ScorePage returns the similarity and begins a new round.
func (r *Random) ScorePage(_ *page.Page, similarity float64) relevance.Score {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked {
		r.asked = false
		r.round++
	}
	return relevance.Score{Value: similarity, Terms: []relevance.Term{{Name: "similarity", Value: similarity, Note: "to the topic; links are drawn at random"}}}
}

// ScoreLinks appends a random number for every link.
func (r *Random) ScoreLinks(dst []float64, p *page.Page, _ float64) []float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range p.Links {
		dst = append(dst, r.draw(page.Key(p.Links[i].URL)))
	}
	return dst
}

// Rescore draws again.
func (r *Random) Rescore(key uint64) (float64, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.asked { // the links that came since the last rescoring have had their draw
		r.asked = true
		r.round++
	}
	return r.draw(key), true
}

// draw returns a number in [0,1) that depends on key, seed and round only.
func (r *Random) draw(key uint64) float64 {
	x := key ^ r.seed*0x9e3779b97f4a7c15 ^ r.round*0xd1b54a32d192ed03
	x ^= x >> 30 // splitmix64
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	x ^= x >> 31
	return float64(x>>11) / (1 << 53)
}
