package main

import (
	"strings"

	"github.com/alecthomas/kong"

	"fossick/corpusweb"
	"fossick/frontier"
	"fossick/train"
)

// offered returns the words that a shell offers for a value, and what else may stand
// there. The grammar says it: by an enum, by complete:"…", by a placeholder FILE or DIR.
func offered(v *kong.Value) (words []string, more string) {
	more = nothingElse
	if words = choicesOf(v); len(words) > 0 {
		return words, more
	}
	kinds := v.Tag.Get("complete")
	if kinds == "" {
		kinds = byPlaceholder[v.Tag.PlaceHolder]
	}
	for kind := range strings.SplitSeq(kinds, ",") {
		offers, known := offers[kind]
		switch {
		case kind == "":
		case !known:
			words = append(words, kind)
		default:
			if offers.words != nil {
				words = append(words, offers.words()...)
			}
			if offers.more != "" {
				more = offers.more
			}
		}
	}
	return words, more
}

// byPlaceholder is what stands for the placeholders that say it themselves.
var byPlaceholder = map[string]string{"FILE": "files", "DIR": "dirs", "MODEL": "files", "STORE": "dirs", "SET": "sets"}

// offers are the kinds of values that a shell can be told, by the word in complete:"…".
var offers = map[string]struct {
	words func() []string
	more  string
}{
	"files":       {more: filesToo},
	"dirs":        {more: foldersToo},
	"topics":      {topicNames, foldersToo},
	"models":      {topicNames, filesToo},
	"sets":        {func() []string { return []string{"demo"} }, filesToo},
	"policies":    {words: policyNames},
	"orders":      {words: frontier.Orderings},
	"sequences":   {words: frontier.Sequences},
	"classifiers": {words: train.Classifiers},
	"rankings":    {words: func() []string { return rankWays }},
	"faults":      {words: faultNames},
}

func faultNames() []string {
	names := []string{"list"}
	for _, f := range corpusweb.Faults() {
		names = append(names, f.Name)
	}
	return names
}
