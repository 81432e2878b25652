package train

import (
	"math/rand/v2"

	"fossick/datasets"
	"slices"
)

// perSite passes on at most n rows of each label of each site, drawn at random.
// Rows without a site all pass, and so do, unless tests are capped too, a set's
// own test rows: it is training that a site can dominate.
func perSite(rows datasets.Stream, n int, tests bool, rng *rand.Rand) (datasets.Stream, error) {
	type group struct{ site, label string }
	groups := map[group][]int{}
	var order []group
	count := 0
	for e, err := range rows {
		if err != nil {
			if datasets.IsRow(err) {
				continue // the training pass reports it
			}
			return nil, err
		}
		if g := (group{e.Site, e.Label}); e.Site != "" && (tests || e.Split != "test") {
			if groups[g] == nil {
				order = append(order, g)
			}
			groups[g] = append(groups[g], count)
		}
		count++
	}
	assigned := slices.Repeat([]datasets.Part{datasets.Train}, count)
	for _, g := range order {
		at := groups[g]
		rng.Shuffle(len(at), func(a, b int) { at[a], at[b] = at[b], at[a] })
		for _, i := range at[min(n, len(at)):] {
			assigned[i] = datasets.Unused
		}
	}
	return datasets.Pick(rows, assigned, datasets.Train), nil
}
