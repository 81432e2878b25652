package learned

// distinct picks the words of a page that come for the first time. It serves one goroutine.
type distinct struct{ seen map[token]struct{} }

func newDistinct() distinct { return distinct{map[token]struct{}{}} }

// of returns words, each once, in the order of their first occurrence and in their
// place.
func (d *distinct) of(words []token) []token {
	clear(d.seen)
	kept := words[:0]
	for _, w := range words {
		if _, met := d.seen[w]; !met {
			d.seen[w] = struct{}{}
			kept = append(kept, w)
		}
	}
	return kept
}
