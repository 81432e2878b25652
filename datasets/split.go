package datasets

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"fossick/internal/printable"
)

// SplitOptions says how much is for training; at most one of the first three is
// set. With none, a set's own split applies, and without that all is train.
type SplitOptions struct {
	Share    float64        // in (0,1]: this share of every class
	N        int            // this many in all, the classes in their proportions
	PerClass map[string]int // this many of each class named; "" is every other class
}

// Row is what a split looks at, so that a set need not be in memory for it.
type Row struct {
	Label, Split string
	Sum          [16]byte // of the body
}

// RowOf returns the row of an example.
func RowOf(e *Example) Row { return Row{e.Label, e.Split, e.sum()} }

// Part is where a row went.
type Part byte

// The parts of a split.
const (
	Unused Part = iota // without a label, or of a train half of which less was asked for
	Train
	Test
)

// SplitReport counts a split's rows.
type SplitReport struct {
	Train, Test, Unused int
	TrainPerLabel       map[string]int
	Own                 bool // the set's own split was applied

	// Across counts test rows whose body is also in train: they flatter the
	// accuracy. Within a part duplicates are the Report's.
	Across int
}

// Assign says for every row which part it is in. The choice is stratified by
// label, and the same rows, options and state of rng give the same parts.
//
// A set's own split stays in force, once any row has one: train rows are drawn
// from its train rows only. What is not drawn, or in neither half, is unused.
// Without one, all that is not drawn is test.
func Assign(rows []Row, rng *rand.Rand, opt SplitOptions) ([]Part, SplitReport, error) {
	rep := SplitReport{TrainPerLabel: map[string]int{}}
	parts := make([]Part, len(rows))
	pool := map[string][]int{} // by label, rows that may train
	for i, r := range rows {
		if r.Split != "" && r.Split != "train" && r.Split != "test" {
			return nil, rep, fmt.Errorf("row %d: split %q; want train, test or nothing", i+1, r.Split)
		}
		rep.Own = rep.Own || r.Split != ""
	}
	for i, r := range rows {
		switch {
		case r.Label == "" || rep.Own && r.Split == "":
		case r.Split == "test":
			parts[i] = Test
		default:
			pool[r.Label] = append(pool[r.Label], i)
		}
	}
	quota, err := opt.quota(pool)
	if err != nil {
		return nil, rep, err
	}
	for _, label := range slices.Sorted(maps.Keys(pool)) {
		ids := pool[label]
		rng.Shuffle(len(ids), func(a, b int) { ids[a], ids[b] = ids[b], ids[a] })
		for k, i := range ids {
			if k < quota[label] {
				parts[i] = Train
			} else if !rep.Own {
				parts[i] = Test
			}
		}
	}
	rep.count(rows, parts)
	return parts, rep, nil
}

func (r *SplitReport) count(rows []Row, parts []Part) {
	trained := map[[16]byte]bool{}
	for i, p := range parts {
		switch p {
		case Unused:
			r.Unused++
		case Train:
			r.Train++
			r.TrainPerLabel[rows[i].Label]++
			trained[rows[i].Sum] = true
		case Test:
			r.Test++
		}
	}
	for i, p := range parts {
		if p == Test && trained[rows[i].Sum] {
			r.Across++
		}
	}
}

// quota returns how many rows of each label are for training.
func (o SplitOptions) quota(pool map[string][]int) (map[string]int, error) {
	set := 0
	for _, given := range []bool{o.Share != 0, o.N != 0, o.PerClass != nil} {
		if given {
			set++
		}
	}
	quota := map[string]int{}
	switch {
	case set > 1:
		return nil, fmt.Errorf("split: give a share, a number, or numbers per class, but only one of them")
	case o.PerClass != nil:
		return quota, o.perClass(pool, quota)
	case o.N != 0:
		return quota, o.number(pool, quota)
	case o.Share < 0 || o.Share > 1 || math.IsNaN(o.Share):
		return nil, fmt.Errorf("split: share %v for training; want more than 0 and at most 1", o.Share)
	}
	for label, ids := range pool {
		quota[label] = len(ids)
		if o.Share != 0 {
			// However small the share, every class trains.
			n := int(math.Round(o.Share * float64(len(ids))))
			quota[label] = max(1, min(n, len(ids)))
		}
	}
	return quota, nil
}

func (o SplitOptions) perClass(pool map[string][]int, quota map[string]int) error {
	for _, label := range slices.Sorted(maps.Keys(o.PerClass)) {
		if _, ok := pool[label]; !ok && label != "" {
			return fmt.Errorf("split: no rows with label %q; the set has %s", label, printable.SomeNames(label, printable.SortedKeys(pool)))
		}
	}
	for _, label := range slices.Sorted(maps.Keys(pool)) {
		n, ok := o.PerClass[label]
		if !ok {
			n = o.PerClass[""]
		}
		if n < 0 || n > len(pool[label]) {
			return fmt.Errorf("split: %d rows of %q for training; there are %d", n, label, len(pool[label]))
		}
		quota[label] = n
	}
	return nil
}

// number shares o.N among the labels in their proportions, by largest remainder;
// equal remainders go to the label that sorts first.
func (o SplitOptions) number(pool map[string][]int, quota map[string]int) error {
	total := 0
	for _, ids := range pool {
		total += len(ids)
	}
	if o.N < 0 || o.N > total {
		return fmt.Errorf("split: %d rows for training; there are %d labelled ones", o.N, total)
	}
	labels := slices.Sorted(maps.Keys(pool))
	left := o.N
	for _, l := range labels {
		quota[l] = o.N * len(pool[l]) / total
		left -= quota[l]
	}
	rest := func(l string) int { return o.N * len(pool[l]) % total }
	slices.SortStableFunc(labels, func(a, b string) int { return rest(b) - rest(a) })
	for _, l := range labels[:left] {
		quota[l]++
	}
	return nil
}
