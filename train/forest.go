package train

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"

	"github.com/sjwhitworth/golearn/base"
	"github.com/sjwhitworth/golearn/trees"

	"fossick/models"
)

// forest is a bag of golearn's random trees (Breiman 2001), which test whether a page has one of the terms
// with the highest gain. At each node golearn's gain-ratio rule chooses among √terms random words, and
// golearn's ID3 splits the pages, until they are of one class.
//
// Bags and words are drawn here, by the seed: golearn's meta.BaggedModel and RandomTree draw from the global
// random source in goroutines, so two runs differ. golearn divides the gain by the remaining entropy, not by
// the split's, and so prefers what plain gain prefers.
type forest struct{}

func (forest) name() string { return models.Trees }

const (
	forestWords = 300 // default number of terms
	forestTrees = 50
	forestBag   = 1500 // most pages of a tree: golearn takes 0.1 ms per page, word and level
)

func (forest) fit(ctx context.Context, c *corpus, pages []int, by fitting) (*fitted, error) {
	f, rows, y, err := c.counted(pages, by, models.Trees, forestWords)
	if err != nil {
		return nil, err
	}
	g := &grower{rows: rows, y: y, classes: len(c.classes), terms: len(f.kept)}
	f.forest = make(models.Forest, forestTrees)
	if err := parallel(ctx, runtime.GOMAXPROCS(0), forestTrees, func(ctx context.Context, i int) error {
		rng := rand.New(rand.NewPCG(uint64(by.seed), uint64(i)))
		bag := make([]int, min(len(rows), forestBag))
		for k := range bag {
			bag[k] = rng.IntN(len(rows))
		}
		root, err := g.grow(ctx, bag, newDrawing(g, rng.Uint64()))
		if err != nil {
			return fmt.Errorf("training %s: %w", models.Trees, err)
		}
		f.forest[i] = compile(root, 0)
		f.forest[i].Shares = nil // a Ranger computes its own
		return nil
	}); err != nil {
		return nil, err
	}
	f.settings["trees"] = strconv.Itoa(forestTrees)
	return f, nil
}

// drawing lets golearn choose among random words at each node.
type drawing struct {
	*grower
	seed  uint64
	slots []base.Attribute // one column per drawn word
	ratio trees.InformationGainRatioRuleGenerator
}

func newDrawing(g *grower, seed uint64) *drawing {
	d := &drawing{grower: g, seed: seed}
	for i := range int(math.Ceil(math.Sqrt(float64(g.terms)))) {
		d.slots = append(d.slots, base.NewFloatAttribute("slot "+strconv.Itoa(i)))
	}
	return d
}

func (d *drawing) columns() []base.Attribute { return d.slots }

// choose draws words, writes into their slots which rows have them, and asks golearn's rule.
func (d *drawing) choose(on *grid, view base.FixedDataGrid, rows, pages []int) split {
	words := d.draw(pages)
	if len(words) == 0 {
		return split{term: -1}
	}
	for i, term := range words {
		for k, row := range rows {
			on.write(d.slots[i], row, min(1, d.count(pages[k], int(term))))
		}
	}
	rule := d.ratio.GetSplitRuleFromSelection(d.slots[:len(words)], view)
	i := slices.Index(d.slots, rule.SplitAttr)
	if i < 0 {
		return split{term: -1}
	}
	return split{term: int(words[i])}
}

// draw returns random words that some pages of a node have and others lack. golearn visits nodes in map
// order, so each node draws from its own source, seeded by its pages. golearn also adds up entropies in map
// order, so draw returns only one of the words with equal gain.
func (d *drawing) draw(pages []int) (words []int32) {
	total, on := make([]int, d.classes), make([][]int, d.terms)
	own := fnv.New64a()
	for _, p := range slices.Sorted(slices.Values(pages)) {
		_, _ = own.Write(binary.LittleEndian.AppendUint32(nil, uint32(p))) // never fails
		total[d.y[p]]++
		for _, t := range d.rows[p].Index {
			if on[t] == nil {
				on[t] = make([]int, d.classes)
			}
			on[t][d.y[p]]++
		}
	}
	var all []int32
	for t, has := range on {
		if n := sum(has); n > 0 && n < len(pages) {
			all = append(all, int32(t))
		}
	}
	rng := rand.New(rand.NewPCG(d.seed, own.Sum64()))
	most := bits(total, len(pages))
	var gains []float64
	for i := range min(len(all), len(d.slots)) {
		k := i + rng.IntN(len(all)-i)
		all[i], all[k] = all[k], all[i]
		gain := gainOf(on[all[i]], total)
		if gain > most-1e-9 {
			return all[i : i+1]
		}
		if !slices.ContainsFunc(gains, func(g float64) bool { return math.Abs(g-gain) < 1e-9 }) {
			words, gains = append(words, all[i]), append(gains, gain)
		}
	}
	return words
}

// gainOf returns a word's information gain in bits; has counts its pages by class, total all pages.
func gainOf(has, total []int) float64 {
	rest := make([]int, len(total))
	for c := range rest {
		rest[c] = total[c] - has[c]
	}
	n, of := sum(total), sum(has)
	return bits(total, n) - (float64(of)*bits(has, of)+float64(n-of)*bits(rest, n-of))/float64(n)
}
