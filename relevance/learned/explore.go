package learned

import "math/rand/v2"

// explorer chooses fetches that are made to learn: a share of all, spent on
// targets of which little is known. So a model that is wrong about a host or a
// kind of page meets what would correct it. Of a sample of the targets that
// wait it takes one whose host was fetched least; among equals, the one that
// looks best.
type explorer struct {
	share  float64
	credit float64  // fetches owed
	sample []uint64 // page.Key of targets, each as likely as any other
	seen   int      // targets offered
	rng    *rand.Rand
	ours   func(url string) bool // which targets may be fetched; nil: all
}

// sampleSize is how many targets an explorer chooses among.
const sampleSize = 64

func newExplorer(share float64, seed uint64) explorer {
	return explorer{share: share, rng: rand.New(rand.NewPCG(seed, 0xe91))}
}

// offer takes a new target into the sample, or not (reservoir sampling).
func (x *explorer) offer(key uint64, url string) {
	if x.share <= 0 || x.ours != nil && !x.ours(url) {
		return
	}
	x.seen++
	if len(x.sample) < sampleSize {
		x.sample = append(x.sample, key)
	} else if i := x.rng.IntN(x.seen); i < sampleSize {
		x.sample[i] = key
	}
}

// choose marks a target for each fetch that exploring is owed; score is what ranks equals.
func (x *explorer) choose(links *linkGraph, score func(*evidence) float64) {
	x.credit += x.share
	for x.credit >= 1 {
		x.credit--
		best, at := (*evidence)(nil), 0
		waiting := x.sample[:0]
		for _, key := range x.sample {
			e, ok := links.waiting.Peek(key)
			if !ok || e.explored {
				continue // fetched, forgotten or chosen
			}
			waiting = append(waiting, key)
			if best == nil || e.host.pages < best.host.pages ||
				e.host.pages == best.host.pages && score(e) > score(best) {
				best, at = e, len(waiting)-1
			}
		}
		x.sample = waiting
		if best == nil {
			return
		}
		best.explored = true
		x.sample = append(x.sample[:at], x.sample[at+1:]...)
	}
}
