// Package nearest finds what a word that nothing has may have been meant to be.
package nearest

import (
	"slices"
	"strings"
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
// they are at most a third of its letters away.
func Words(word string, known []string) []string {
	if word == "" {
		return nil
	}
	word = strings.ToLower(word)
	var near []string
	least := max(1, len(word)/3)
	for _, k := range known {
		d := distance(word, strings.ToLower(k))
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

// distance is the number of letters to insert, delete, change or swap with the next to
// make b of a (optimal string alignment).
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	rows := [3][]int{make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := range s {
		above, row := rows[i%3], rows[(i+1)%3]
		row[0] = i + 1
		for j := range t {
			d := above[j]
			if s[i] != t[j] {
				d++
			}
			d = min(d, above[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && s[i] == t[j-1] && s[i-1] == t[j] {
				d = min(d, rows[(i+2)%3][j-1]+1)
			}
			row[j+1] = d
		}
	}
	return rows[len(s)%3][len(t)]
}

// List is "a, b or c".
func List(items []string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	last := len(items) - 1
	return strings.Join(items[:last], ", ") + " or " + items[last]
}
