package netstate

import (
	"math"
	"math/rand/v2"
	"testing"

	"fossick/store/change"
)

func TestNothingKnown(t *testing.T) {
	if _, known := new(Chain).SS(); known {
		t.Error("an empty chain knows")
	}
}

// TestChainByHand: after five successes came three, after six failures one more.
func TestChainByHand(t *testing.T) {
	var c Chain
	for i := range 11 {
		before := i < 5
		c.Add(before, before && i < 3 || !before && i > 5)
	}
	if ss, _ := c.SS(); ss != 3./5 {
		t.Errorf("SS %v, want 3/5", ss)
	}
	if ff, _ := c.FF(); ff != 1./6 {
		t.Errorf("FF %v, want 1/6", ff)
	}
}

// TestChains: on hosts that are up and down by a known chain, counted transitions come
// back within 2 points of it, and eq. 1 and 2 within 2 points of what they are in the
// mean: the share of successes among all others, which is found for each pair of visits
// by powers of the chain.
func TestChains(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct{ ss, ff float64 }{{.9638, .7426}, {.9, .9}, {.99, .5}, {.7, .3}, {.5, .5}} {
		const hosts, crawls = 6000, 9
		up := (1 - c.ff) / (2 - c.ss - c.ff) // share of time
		counts := make(change.Downloads, crawls+1)
		var chain Chain
		for range hosts {
			state, good := r.Float64() < up, 0
			for i := range crawls {
				if i > 0 {
					stay := c.ff
					if state {
						stay = c.ss
					}
					next := state == (r.Float64() < stay)
					chain.Add(state, next)
					state = next
				}
				good += index(state)
			}
			counts[good]++
		}
		if ss, _ := chain.SS(); math.Abs(ss-c.ss) > .02 {
			t.Errorf("SS %.4f counted, want %.4f", ss, c.ss)
		}
		if ff, _ := chain.FF(); math.Abs(ff-c.ff) > .02 {
			t.Errorf("FF %.4f counted, want %.4f", ff, c.ff)
		}
		ss, _ := counts.SS()
		ff, _ := counts.FF()
		wantSS, wantFF := expected(c.ss, c.ff, crawls)
		t.Logf("chain %.4f %.4f: eq. 1 and 2 give %.4f %.4f, expected %.4f %.4f", c.ss, c.ff, ss, ff, wantSS, wantFF)
		if math.Abs(ss-wantSS) > .02 || math.Abs(ff-wantFF) > .02 {
			t.Errorf("chain %.4f %.4f: eq. 1 and 2 give %.4f %.4f, expected %.4f %.4f", c.ss, c.ff, ss, ff, wantSS, wantFF)
		}
	}
}

// expected is what eq. 1 and 2 are in the mean for a chain that begins in balance, by the
// exact distribution of successes: dynamic programming over visits.
func expected(ss, ff float64, crawls int) (float64, float64) {
	up := (1 - ff) / (2 - ss - ff)
	at := [2][]float64{make([]float64, crawls+1), make([]float64, crawls+1)} // [state][successes]
	at[0][0], at[1][1] = 1-up, up
	for range crawls - 1 {
		next := [2][]float64{make([]float64, crawls+1), make([]float64, crawls+1)}
		for n := range crawls + 1 {
			next[0][n] += at[0][n]*ff + at[1][n]*(1-ss)
			if n < crawls {
				next[1][n+1] += at[0][n]*(1-ff) + at[1][n]*ss
			}
		}
		at = next
	}
	var a, b, x, y float64
	for n := range crawls + 1 {
		p := at[0][n] + at[1][n]
		if n > 0 {
			a += p * float64(n-1)
			b += p * float64(crawls-1)
		}
		if n < crawls {
			x += p * float64(crawls-1-n)
			y += p * float64(crawls-1)
		}
	}
	return a / b, x / y
}
