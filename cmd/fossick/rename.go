package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"fossick/datasets"
)

// renames are the label changes by which sets with different labels are trained
// on together.
type renames struct {
	to   map[string]string // old label → new one, "" leaves the row out
	used map[string]bool   // old labels that rows had
}

// UnmarshalText reads old=new by comma; a flag that is given again adds to it.
func (r *renames) UnmarshalText(text []byte) error {
	if r.to == nil {
		r.to, r.used = map[string]string{}, map[string]bool{}
	}
	for item := range strings.SplitSeq(string(text), ",") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue // a comma at the end of a list
		}
		before, after, ok := strings.Cut(item, "=")
		if !ok || before == "" {
			return fmt.Errorf("%q: want old=new by comma, or old= to leave a label out", item)
		}
		if _, again := r.to[before]; again {
			return fmt.Errorf("label %q is renamed twice", before)
		}
		r.to[before] = after
	}
	return nil
}

// apply renames the labels of rows. Of a row's labels the last that is renamed
// counts, being the finest: a whole theme can change but for one category.
func (r *renames) apply(rows examples) examples {
	if len(r.to) == 0 {
		return rows
	}
	return func(yield func(*datasets.Example, error) bool) {
		for e, err := range rows {
			if err == nil {
				if e = r.row(e); e == nil {
					continue
				}
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// row returns e with its new label, nil when it is left out.
func (r *renames) row(e *datasets.Example) *datasets.Example {
	for _, old := range slices.Backward(e.Labels) {
		label, ok := r.to[old]
		if !ok {
			continue
		}
		r.used[old] = true
		if label == "" {
			return nil
		}
		renamed := *e // the set may hand out its own memory
		renamed.Label, renamed.Labels = label, []string{label}
		return &renamed
	}
	return e
}

// unused returns the labels to rename that no row had, sorted.
func (r *renames) unused() []string {
	var labels []string
	for _, old := range slices.Sorted(maps.Keys(r.to)) {
		if !r.used[old] {
			labels = append(labels, old)
		}
	}
	return labels
}

// perSite passes on at most n rows of each label of each site, drawn at random.
// Rows without a site all pass, and so do, unless tests are capped too, a set's
// own test rows: it is training that a site can dominate.
func perSite(rows examples, n int, tests bool, rng *rand.Rand) (examples, error) {
	type group struct{ site, label string }
	groups := map[group][]int{}
	var order []group
	count := 0
	for e, err := range rows {
		if err != nil {
			if isRow(err) {
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
	return pick(rows, assigned, datasets.Train), nil
}
