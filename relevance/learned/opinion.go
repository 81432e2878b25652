package learned

import (
	"fmt"
	"strings"

	"fossick/relevance"
)

// opinion is the probability of a page with what people said, and the terms that say
// so; none where nobody said a thing.
func (b *labels) opinion(key uint64, words []token, judged float64) (float64, []relevance.Term) {
	if onTopic, labelled := b.said[key]; labelled {
		return truth(onTopic), []relevance.Term{{Name: "marked", Value: truth(onTopic), Note: "a person labelled it; it counts as a page of this probability"}}
	}
	shift := b.fix.shift(words)
	if shift == 0 {
		return judged, nil
	}
	p := corrected(judged, shift)
	return p, []relevance.Term{{Name: "marks", Value: shift, Note: fmt.Sprintf("%s added to the log-odds%s: it counts as a page of probability %.3g",
		b.count(), b.because(words), p)}}
}

func (b *labels) count() string {
	var said []string
	for _, of := range []struct {
		what string
		n    int
	}{{"page", b.fix.labels}, {"link", b.fix.links}} {
		switch {
		case of.n == 1:
			said = append(said, "1 "+of.what)
		case of.n > 1:
			said = append(said, fmt.Sprintf("%d %ss", of.n, of.what))
		}
	}
	by := "people"
	if b.fix.labels+b.fix.links == 1 {
		by = "a person"
	}
	return strings.Join(said, " and ") + " marked by " + by
}

// because names the words that weigh most.
func (b *labels) because(words []token) string {
	const most = 4
	var names []string
	for _, w := range b.fix.strongest(words, most) {
		if name := b.names[w]; name != "" { // else it is of a link's text, which nobody kept
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return ", most for " + strings.Join(names, ", ")
}
