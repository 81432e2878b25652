package rates

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// plan says how a world is made.
type plan struct {
	spread string  // of rates; one of spreads, or "groups"
	within float64 // of groups: the standard deviation of log rates in one
	how    string  // they change
	told   bool    // Last-Modified is, and is true
	n      int     // intervals between visits, of five days
	jitter bool    // they are spread exponentially
	pages  int
	seed   uint64
}

// world is a population of pages, visited.
type world struct {
	rates []float64
	pages []Page
}

func (c plan) draw() world {
	r := rand.New(rand.NewPCG(c.seed, 7))
	groups := newGroups(r, c.pages)
	var w world
	for i := range c.pages {
		var g Group
		var rate float64
		if c.spread == "groups" {
			g, rate = groups.draw(r)
			rate *= math.Exp(c.within * r.NormFloat64())
		} else {
			rate = spreads[c.spread](r)
		}
		times := every(c.n, 5)
		if c.jitter {
			times = irregular(r, c.n, 5)
		}
		w.rates = append(w.rates, rate)
		w.pages = append(w.pages, Page{
			Host: fmt.Sprintf("h%d", i%(1+c.pages/20)), Group: g,
			Visits: visited(processes[c.how](r, rate, times[c.n]), times, c.told),
		})
	}
	return w
}

// accuracy is how far the change intervals of a world's pages were off.
type accuracy struct {
	size   float64 // median of |I/true − 1|
	signed float64 // median of I/true − 1: the bias
	held   float64 // share of 95 % intervals that hold the truth
}

func (w world) judge(t testing.TB, name string, m *Model) accuracy {
	e, err := New(name, m)
	if err != nil {
		t.Fatal(err)
	}
	var size, signed []float64
	held := 0
	for i, p := range w.pages {
		got := e.Estimate(p)
		off := w.rates[i]/got.Rate - 1
		signed = append(signed, off)
		size = append(size, math.Abs(off))
		if got.Lo <= w.rates[i] && w.rates[i] <= got.Hi {
			held++
		}
	}
	return accuracy{median(size), median(signed), float64(held) / float64(len(w.pages))}
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}
