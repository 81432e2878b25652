package topics

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"fossick/internal/cli"
	"fossick/internal/report"
	"fossick/train"
)

// Print writes what was made, and how to crawl with it.
func (made *madeTopic) Print(w io.Writer) {
	cli.Fprintf(w, "Topic %s in %s: %s, %s\n", made.Name, made.Topic, report.Count(len(made.Keywords), "keyword"), report.StartPages(len(made.Seeds)))
	cli.Fprintf(w, "  keywords: %s\n", strings.Join(made.Keywords, ", "))
	if made.KeywordsBy != nil && *made.KeywordsBy != train.Nouns { // the usual way needs no line
		cli.Fprintf(w, "  chosen from: %s\n", *made.KeywordsBy)
	}
	if made.Unlabelled != nil {
		made.Unlabelled.Print(w)
	} else if made.Model != nil {
		cli.Fprintf(w, "  model: trained on %d pages on topic and %d off (%s)\n", *made.Examples, *made.Negatives, strings.Join(made.From, ", "))
	}
	if made.Accuracy != nil {
		cli.Fprintf(w, "  in cross-validation %.1f %% right (%s); of the topic's pages, precision %s, recall %s\n",
			100**made.Accuracy, made.spread, train.Share(made.OnTopic.Precision), train.Share(made.OnTopic.Recall))
	}
	name := named(made.Name, made.Topic)
	if len(made.Seeds) == 0 {
		cli.Fprintf(w, "start pages: fossick topic propose SOURCE --topic %s -o seeds.txt\n", name)
		cli.Fprintf(w, "crawl with: fossick focus --topic %s --seeds seeds.txt --contact you@example.org\n", name)
		return
	}
	cli.Fprintf(w, "crawl with: fossick focus --topic %s --contact you@example.org\n", name)
}

// named returns the value of --topic for a topic in a folder.
func named(name, folder string) string {
	if folder == ownFolders(name) {
		return name
	}
	return folder
}

// PrintList prints topics as a table.
func PrintList(w io.Writer, all []*Info) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	io.WriteString(t, "topic\tmodel\tkeywords\tstart pages\twhat\n")
	for _, info := range all {
		model, what := "-", info.Title
		if info.model != nil {
			model = string(info.model.Classifier)
		}
		if info.Folder != nil {
			what = "in " + *info.Folder
		}
		if info.Problem != "" {
			model, what = "?", "cannot be read: "+info.Problem
		}
		cli.Fprintf(t, "%s\t%s\t%d\t%d\t%s\n", info.Name, model, len(info.Keywords), len(info.Seeds), what)
	}
	_ = t.Flush() // w has the error
	io.WriteString(w, "\ndetails of a topic: fossick topic show NAME; a topic of your own: fossick topic new --help\n")
	io.WriteString(w, "listed are the built-in topics and those in the folder topics here; name one made elsewhere (topic new --out DIR) by its folder: --topic DIR\n")
}

// Print writes all of a topic.
func (t *Info) Print(w io.Writer) {
	where, name, about := "built in", t.Name, ""
	if t.Folder != nil {
		where, name = *t.Folder, named(t.Name, *t.Folder)
	}
	if !strings.EqualFold(t.Title, t.Name) {
		about = ": " + t.Title
	}
	cli.Fprintf(w, "%s%s (%s)\n\nkeywords:\n", t.Name, about, where)
	printWrapped(w, strings.Join(t.Keywords, ", "))
	io.WriteString(w, "\nstart pages:\n")
	for _, seed := range t.Seeds {
		cli.Fprintf(w, "  %s\n", seed)
	}
	if len(t.Seeds) == 0 {
		cli.Fprintf(w, "  none; fossick topic propose SOURCE --topic %s finds some\n", name)
	}
	io.WriteString(w, "\nmodel:\n")
	if t.model != nil {
		printWrapped(w, t.model.Summary())
		printWrapped(w, fmt.Sprintf("a page is on topic from a probability of %.3f on", t.model.Threshold(t.Name)))
	} else {
		io.WriteString(w, "  none; pages count as on topic by the keywords\n")
	}
	cli.Fprintf(w, "\ncrawl with: fossick focus --topic %s --contact you@example.org\n", name)
	if t.Model != nil {
		cli.Fprintf(w, "judge with: fossick classify --model %s FILE\n", name)
	}
}

// printWrapped prints a text, indented, in lines of 80 columns.
func printWrapped(w io.Writer, text string) {
	const width, indent = 80, "  "
	at := 0
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case at == 0:
			io.WriteString(w, indent)
			at = len(indent)
		case at+1+n > width:
			cli.Fprintf(w, "\n%s", indent)
			at = len(indent)
		default:
			io.WriteString(w, " ")
			at++
		}
		cli.Fprintf(w, "%s", word)
		at += n
	}
	io.WriteString(w, "\n")
}
