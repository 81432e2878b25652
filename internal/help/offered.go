package help

import (
	"strings"

	"github.com/alecthomas/kong"

	"fossick/internal/values"
)

// Offers are the kinds of values that a shell can be told, by the word in complete:"…".
type Offers map[string]Offer

// Offer is what may stand for a kind of value.
type Offer struct {
	Words func() []string // nil: none by name
	More  string          // Files, Folders or ""
}

// Of returns the words that a shell offers for a value, and what else may stand
// there. The grammar says it: by an enum, by complete:"…", by a placeholder FILE or DIR.
func (o Offers) Of(v *kong.Value) (words []string, more string) {
	more = Nothing
	if words = values.Choices(v); len(words) > 0 {
		return words, more
	}
	kinds := v.Tag.Get("complete")
	if kinds == "" {
		kinds = byPlaceholder[v.Tag.PlaceHolder]
	}
	for kind := range strings.SplitSeq(kinds, ",") {
		offer, known := o[kind]
		switch {
		case kind == "":
		case !known:
			words = append(words, kind)
		default:
			if offer.Words != nil {
				words = append(words, offer.Words()...)
			}
			if offer.More != "" {
				more = offer.More
			}
		}
	}
	return words, more
}

// byPlaceholder is what stands for the placeholders that say it themselves.
var byPlaceholder = map[string]string{"FILE": "files", "DIR": "dirs", "MODEL": "files", "STORE": "dirs", "SET": "sets"}
