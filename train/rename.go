package train

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"fossick/datasets"
)

// Renames are the label changes by which sets with different labels are trained
// on together.
type Renames struct {
	to   map[string]string // old label → new one, "" leaves the row out
	used map[string]bool   // old labels that rows had
}

// UnmarshalText reads old=new by comma; a flag that is given again adds to it.
func (r *Renames) UnmarshalText(text []byte) error {
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
func (r *Renames) apply(rows datasets.Stream) datasets.Stream {
	if len(r.to) == 0 {
		return rows
	}
	renamed := datasets.Map(rows, func(e *datasets.Example) *datasets.Example {
		for _, old := range slices.Backward(e.Labels) {
			if label, ok := r.to[old]; ok {
				r.used[old] = true
				if label == "" {
					return nil
				}
				return e.Labelled(label, label)
			}
		}
		return e
	})
	return datasets.Only(renamed, func(e *datasets.Example) bool { return e != nil })
}

// Unused returns the labels to rename that no row had, sorted.
func (r *Renames) Unused() []string {
	var labels []string
	for _, old := range slices.Sorted(maps.Keys(r.to)) {
		if !r.used[old] {
			labels = append(labels, old)
		}
	}
	return labels
}
