package main

import (
	"fmt"
	"io"
	"strings"
)

type topicShowCmd struct {
	Name string `arg:"" help:"A topic's name, or its folder." complete:"topics"`
}

func (topicShowCmd) Help() string {
	return `Shows a topic: its keywords, its start pages, what its model was trained on and how good it was there.

Example:
  fossick topic show science`
}

func (c topicShowCmd) Run(a *app) error {
	info, err := topicInfoOf(c.Name)
	if err != nil {
		return err
	}
	return a.emit(topicsResult{[]topicInfo{*info}}, info.print)
}

func (t *topicInfo) print(w io.Writer) {
	where, named := "built in", t.Name
	if t.Folder != nil {
		where = *t.Folder
		if ownFolder(t.Name) != where {
			named = where
		}
	}
	fmt.Fprintf(w, "%s%s (%s)\n\nkeywords:\n", t.Name, t.about(), where)
	printWrapped(w, "  ", strings.Join(t.Keywords, ", "))
	fmt.Fprintf(w, "\nstart pages:\n")
	for _, seed := range t.Seeds {
		fmt.Fprintf(w, "  %s\n", seed)
	}
	if len(t.Seeds) == 0 {
		fmt.Fprintf(w, "  none; fossick propose SOURCE --topic %s finds some\n", named)
	}
	fmt.Fprintf(w, "\nmodel:\n")
	if m := t.topic.Model; m != nil {
		printWrapped(w, "  ", cardText(m))
		printWrapped(w, "  ", fmt.Sprintf("a page is on topic from a probability of %.3f on", m.Threshold(t.topic.Name)))
	} else {
		fmt.Fprintf(w, "  none; pages count as on topic by the keywords\n")
	}
	fmt.Fprintf(w, "\ncrawl with: fossick focus --topic %s --contact MAIL\n", named)
	if t.Model != nil {
		fmt.Fprintf(w, "judge with: fossick classify --model %s FILE\n", named)
	}
}

// printWrapped prints a text in lines of 80 columns.
func printWrapped(w io.Writer, indent, text string) {
	const width = 80
	at := 0
	for word := range strings.FieldsSeq(text) {
		n := len([]rune(word))
		switch {
		case at == 0:
			fmt.Fprint(w, indent)
			at = len(indent)
		case at+1+n > width:
			fmt.Fprintf(w, "\n%s", indent)
			at = len(indent)
		default:
			fmt.Fprint(w, " ")
			at++
		}
		fmt.Fprint(w, word)
		at += n
	}
	fmt.Fprintln(w)
}
