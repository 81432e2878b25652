package rates

import (
	"iter"
	"math/rand/v2"
	"slices"
)

// sampled is how many pages the prior is fitted to at most, drawn at random. It bounds time
// (some seconds) and memory (20 MB); 4,096 pages fix a mean to 2 % of the spread.
const sampled = 4096

// Model is what many pages tell of the next: the prior of their rates, and which hosts'
// Last-Modified is true. It does not change, and may be used by several goroutines.
type Model struct {
	truths truths
	prior  prior
}

// unlearned is the model without any page.
func unlearned() *Model { return &Model{prior: firstPrior()} }

// Learn fits a model to pages, the same to the same pages in the same order. It holds
// some thousands of them, and two counts a host, at a time.
func Learn(pages iter.Seq[Page]) *Model {
	m := unlearned()
	m.truths.hosts = map[string]Checks{}
	draw := rand.New(rand.NewPCG(1, 19))
	var sample []Page
	seen := 0
	for p := range pages {
		m.truths.take(p)
		seen++
		i := len(sample)
		if i < sampled {
			sample = append(sample, Page{})
		} else if i = draw.IntN(seen); i >= sampled {
			continue
		}
		p.Visits = slices.Clone(p.Visits) // the caller may use them for the next page
		sample[i] = p
	}
	m.truths.settle()
	f := newFit()
	for _, p := range sample {
		f.add(p.Group, evident(p.Visits, m.truths.believed(p.Host)))
	}
	m.prior = f.prior()
	return m
}
