package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// WithParent is the variable of the environment that has a command end, as when its terminal closes,
// once its stdin does: also when the process that started it is killed.
const WithParent = "FOSSICK_WITH_PARENT"

// UsageError is a mistake in a request.
type UsageError struct{ Err error }

func (e UsageError) Error() string { return e.Err.Error() }

func (e UsageError) Unwrap() error { return e.Err }

// Usagef returns a UsageError, formatted like fmt.Errorf.
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// Usage returns err, unless nil, as a UsageError.
func Usage(err error) error {
	if err == nil {
		return nil
	}
	return UsageError{err}
}

// DidYouMean ends a sentence about an unknown word with the nearest known ones, or is "".
func DidYouMean(word string, known []string) string {
	near := nearestWords(word, known)
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + OrList(near) + "?"
}

// nearestWords returns at most three known words that begin with word or are similar.
func nearestWords(word string, known []string) []string {
	if word == "" {
		return nil
	}
	word = strings.ToLower(word)
	var near []string
	least := max(1, (len(word)+1)/3) // swapping two letters counts as two
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

// Number of names that an error lists, and the characters of each.
const (
	shown  = 5
	widest = 60
)

// SomeNames lists known names for an error: all if few, else the five nearest.
func SomeNames(word string, known []string) string {
	if len(known) <= shown+1 {
		cut := make([]string, len(known))
		for i, k := range known {
			cut[i] = Cut(k, widest)
		}
		return strings.Join(cut, ", ")
	}
	word = Cut(strings.ToLower(word), widest)
	type named struct {
		name  string
		apart int
	}
	best := make([]named, 0, shown+1)
	for _, k := range known {
		low := strings.ToLower(k)
		n := named{k, levenshtein.ComputeDistance(word, Cut(low, widest))}
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
		b.WriteString(Cut(n.name, widest) + ", ")
	}
	return fmt.Sprintf("%sand %d more", b.String(), len(known)-shown)
}

func SortedKeys[V any](set map[string]V) []string { return slices.Sorted(maps.Keys(set)) }

// OrList returns "a, b or c".
func OrList(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	last := len(items) - 1
	return strings.Join(items[:last], ", ") + " or " + items[last]
}
