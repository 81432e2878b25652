// Package nearest finds what a word that nothing has may have been meant to be.
package nearest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"fossick/internal/printable"
)

// DidYouMean is the end of a sentence on a word that nothing has: the nearest words,
// or "" when none is near.
func DidYouMean(word string, known []string) string {
	near := Words(word, known)
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + List(near) + "?"
}

// Words returns what word may have been meant to be, three at most. It begins them, or
// at most a third of its letters have to change.
func Words(word string, known []string) []string {
	if word == "" {
		return nil
	}
	word = strings.ToLower(word)
	var near []string
	least := max(1, (len(word)+1)/3) // a swap of two letters counts as two
	for _, k := range known {
		d := levenshtein.ComputeDistance(word, strings.ToLower(k))
		if d < least {
			near, least = near[:0], d
		}
		if d == least || strings.HasPrefix(k, word) {
			near = append(near, k)
		}
	}
	slices.Sort(near)
	near = slices.Compact(near)
	return near[:min(3, len(near))]
}

// How many names an error lists, and how many characters of each: more would bury what
// it says.
const (
	shown  = 5
	widest = 60
)

// Some lists the known names for an error on a word that is none of them: all of them
// where they are few, else the five nearest and how many more there are.
func Some(word string, known []string) string {
	if len(known) <= shown+1 {
		cut := make([]string, len(known))
		for i, k := range known {
			cut[i] = printable.Cut(k, widest)
		}
		return strings.Join(cut, ", ")
	}
	word = printable.Cut(strings.ToLower(word), widest)
	type named struct {
		name  string
		apart int
	}
	best := make([]named, 0, shown+1)
	for _, k := range known {
		low := strings.ToLower(k)
		n := named{k, levenshtein.ComputeDistance(word, printable.Cut(low, widest))}
		if word != "" && strings.Contains(low, word) {
			n.apart = -1
		}
		at, _ := slices.BinarySearchFunc(best, n, func(a, b named) int {
			return cmp.Or(cmp.Compare(a.apart, b.apart), cmp.Compare(a.name, b.name))
		})
		if best = slices.Insert(best, at, n); len(best) > shown {
			best = best[:shown]
		}
	}
	var b strings.Builder
	for _, n := range best {
		b.WriteString(printable.Cut(n.name, widest) + ", ")
	}
	return fmt.Sprintf("%sand %d more", b.String(), len(known)-shown)
}

// Sorted returns the names that a set has, or that something is counted by.
func Sorted[V any](set map[string]V) []string { return slices.Sorted(maps.Keys(set)) }

// List is "a, b or c".
func List(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	last := len(items) - 1
	return strings.Join(items[:last], ", ") + " or " + items[last]
}
