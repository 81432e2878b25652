package train

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"fossick/internal/fulltest"
)

// TestPUCoverage: how often the 95 % intervals that good examples are promised by hold what the
// finished model does on other pages: docs/data/coverage.tsv. All topics of a corpus count together.
//
//	FOSSICK_FULL=1 FOSSICK_DRAWS=25 go test ./train -run TestPUCoverage -v -timeout 3h
//
// FOSSICK_SPLIT (held, tune), FOSSICK_CORPUS and FOSSICK_GIVEN change what is drawn.
func TestPUCoverage(t *testing.T) {
	fulltest.Only(t, "trains hundreds of models")
	draws, given := 1, 10
	fmt.Sscan(os.Getenv("FOSSICK_DRAWS"), &draws)
	fmt.Sscan(os.Getenv("FOSSICK_GIVEN"), &given)
	for _, of := range puCorpora[cmp.Or(os.Getenv("FOSSICK_SPLIT"), "held")] {
		if !strings.HasPrefix(of.name, cmp.Or(os.Getenv("FOSSICK_CORPUS"), "wikispeedia")) {
			continue
		}
		b := newPUBench(t, of)
		var all puCoverage
		for d := range draws {
			for _, topic := range of.topics {
				if b.cover(topic, given, d, &all) {
					t.Logf("%s, %d examples, draw %d, %s: %s", of.name, given, d, topic, &all)
				}
			}
		}
		for k, c := range all {
			if n := c.held + c.above + c.below; n > 0 {
				fulltest.Coverage(t, of.name+": "+puTold[k], c.held, n)
			}
		}
	}
}

// puCoverage counts, by figure, the intervals that hold the truth, those that lie above it and those
// below.
type puCoverage [4]struct{ held, above, below int }

var puTold = [...]string{"recall", "precision", "recall elsewhere", "precision elsewhere"}

func (c *puCoverage) String() string {
	var s []string
	for k, name := range puTold {
		n := c[k].held + c[k].above + c[k].below
		s = append(s, fmt.Sprintf("%s %d of %d (%d below)", name, c[k].held, n, c[k].below))
	}
	return strings.Join(s, ", ")
}

// leastTruth is of how many pages a true share must be.
const leastTruth = 20

func (c *puCoverage) note(k int, ci [2]float64, hits, of float64) {
	if of < leastTruth {
		return
	}
	switch truth := hits / of; {
	case truth < ci[0]:
		c[k].above++
	case truth > ci[1]:
		c[k].below++
	default:
		c[k].held++
	}
}

// puTruth counts pages: on topic, found, and both.
type puTruth struct{ on, found, hits float64 }

func (x *puTruth) count(on, found bool) {
	if on {
		x.on++
	}
	if found {
		x.found++
	}
	if on && found {
		x.hits++
	}
}

// cover makes one draw. It is false where the topic has too few pages.
func (b *puBench) cover(topic string, n, draw int, all *puCoverage) bool {
	given, pool, held := b.draw(topic, n, draw, false)
	if len(given) < n {
		return false
	}
	opt := &Options{Target: Target{Topic: topic}, Folds: 5, Seed: int64(draw)}
	c := b.sub(topic, given, pool[:min(600, len(pool))])
	p, err := newPU(c, opt, puDefaults)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := p.run(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	f, err := p.how.learner.fit(b.t.Context(), p.c, p.labelled(), opt.fitting())
	if err != nil {
		b.t.Fatal(err)
	}
	margin := p.cut(p.scores)
	told, err := p.told(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	whole := *p.c
	whole.rows = b.c.rows
	sites := p.sites()
	var here, there puTruth
	for _, i := range held {
		s := make([]float64, 2)
		f.scores(s, &whole, i)
		on, found := b.on(topic, i), s[p.topic]-s[1-p.topic] >= margin
		if here.count(on, found); !slices.Contains(sites, b.c.sites[i]) {
			there.count(on, found)
		}
	}
	all.note(0, told.RecallCI, here.hits, here.on)
	all.note(1, told.PrecisionCI, here.hits, here.found)
	if told.Elsewhere != nil {
		all.note(2, told.Elsewhere.RecallCI, there.hits, there.on)
		all.note(3, told.Elsewhere.PrecisionCI, there.hits, there.found)
	}
	return true
}
