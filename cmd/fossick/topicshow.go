package main

import (
	"fmt"
	"io"
	"strings"

	"fossick/internal/printable"
	"fossick/topics"
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
		if topics.Own(t.Name) != where {
			named = where
		}
	}
	printable.Fprintf(w, "%s%s (%s)\n\nkeywords:\n", t.Name, t.about(), where)
	printWrapped(w, "  ", strings.Join(t.Keywords, ", "))
	io.WriteString(w, "\nstart pages:\n")
	for _, seed := range t.Seeds {
		printable.Fprintf(w, "  %s\n", seed)
	}
	if len(t.Seeds) == 0 {
		printable.Fprintf(w, "  none; fossick propose SOURCE --topic %s finds some\n", named)
	}
	io.WriteString(w, "\nmodel:\n")
	if m := t.topic.Model; m != nil {
		printWrapped(w, "  ", m.Summary())
		printWrapped(w, "  ", fmt.Sprintf("a page is on topic from a probability of %.3f on", m.Threshold(t.topic.Name)))
	} else {
		io.WriteString(w, "  none; pages count as on topic by the keywords\n")
	}
	printable.Fprintf(w, "\ncrawl with: fossick focus --topic %s --contact you@example.org\n", named)
	if t.Model != nil {
		printable.Fprintf(w, "judge with: fossick classify --model %s FILE\n", named)
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
			io.WriteString(w, indent)
			at = len(indent)
		case at+1+n > width:
			printable.Fprintf(w, "\n%s", indent)
			at = len(indent)
		default:
			io.WriteString(w, " ")
			at++
		}
		printable.Fprintf(w, "%s", word)
		at += n
	}
	io.WriteString(w, "\n")
}
