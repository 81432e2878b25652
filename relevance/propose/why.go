package propose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"fossick/internal/printable"
)

// onTopic is the relevance from which on a target counts as on topic in reasons.
const onTopic = 0.5

// why says in a line what speaks for a proposal, before it is taken.
func (ch *choice) why(k *kept) string {
	var parts []string
	parts = append(parts, fmt.Sprintf("relevance %.2f", k.relevance))
	if words := ch.words(k, 5); len(words) > 0 {
		parts = append(parts, strings.Join(words, ", "))
	}
	if len(k.links) > 0 {
		on, fresh := 0, 0
		for _, l := range k.links {
			if ch.target(l) >= onTopic {
				on++
				if ch.leads[l.key] == 0 {
					fresh++
				}
			}
		}
		parts = append(parts, printable.Sprintf("%d of %d links lead to pages on topic, %d of them to new ones", on, len(k.links), fresh))
	}
	if !k.known {
		parts = append(parts, "only its URL is known")
	}
	return strings.Join(parts, "; ")
}

// words returns the words that make k like the topic, the strongest first.
func (ch *choice) words(k *kept, n int) (names []string) {
	both := slices.Clone(k.words)
	for i, w := range both {
		both[i].weight *= ch.profile.dense[w.term]
	}
	slices.SortStableFunc(both, func(a, b weighed) int { return cmp.Compare(b.weight, a.weight) })
	for _, w := range both {
		if name := ch.profile.names[w.term]; name != "" && w.weight > 0 && len(names) < n {
			names = append(names, name)
		}
	}
	return names
}
