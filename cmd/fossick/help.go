package main

import (
	"io"

	"github.com/alecthomas/kong"

	"fossick/internal/printable"
)

// groups are those of flags and of verbs, by the key in the grammar's tags.
var groups = []kong.Group{
	{Key: "crawl", Title: "Crawl:"},
	{Key: "learn", Title: "Learn and judge:"},
	{Key: "look", Title: "Look into a crawl:"},
	{Key: "graphs", Title: "Experiments and graphs:"},
	{Key: "self", Title: "This program:"},

	{Key: "what", Title: "What to look for:"},
	{Key: "run", Title: "The crawl:"},
	{Key: "score", Title: "How links are ordered:"},
	{Key: "scope", Title: "What to keep to:"},
	{Key: "manners", Title: "Manners:"},
	{Key: "net", Title: "Network:"},

	{Key: "made", Title: "What is made:"},
	{Key: "rows", Title: "Which pages:"},
	{Key: "words", Title: "Which words:"},
	{Key: "methods", Title: "Classifiers:"},
	{Key: "trials", Title: "Experiments instead of a model:"},
	{Key: "space", Title: "Memory:"},
	{Key: "sets", Title: "Crawls and start pages:"},
	{Key: "polite", Title: "Manners, in simulated time:"},
	{Key: "general", Title: "With every verb:"},
}

// helpOptions are how help is laid out.
var helpOptions = kong.HelpOptions{
	Compact: true, FlagsLast: true, WrapUpperBound: 100, ValueFormatter: kong.DefaultHelpValueFormatter,
}

// moreHelp is a verb that has more to say than fits on a first screen.
type moreHelp interface{ MoreHelp() string }

// helpAllFlag prints the help with every flag and ends.
type helpAllFlag bool

// BeforeReset implements a hook of kong.
func (helpAllFlag) BeforeReset(ctx *kong.Context) error {
	if err := printHelp(ctx, true); err != nil {
		return err
	}
	ctx.Exit(exitDone)
	return nil
}

// printHelp prints the help of what the command line names: without all, only the
// flags that a newcomer needs. The grammar is of no use afterwards.
func printHelp(ctx *kong.Context, all bool) error {
	node := ctx.Selected()
	if node == nil {
		node = ctx.Model.Node
	}
	hidden := arrange(ctx.Model, node, all)
	if err := kong.DefaultHelpPrinter(helpOptions, ctx); err != nil {
		return err
	}
	if hidden > 0 {
		printable.Fprintf(ctx.Stdout, "\n%d more flags: %s --help-all\n", hidden, node.FullPath())
	}
	if node == ctx.Model.Node {
		io.WriteString(ctx.Stdout, "\nSettings for good, in a file or the environment: fossick help config\n")
	}
	return nil
}

// arrange makes the grammar ready to be printed as help of a node: flags of all verbs
// come last, and without all those of experts are hidden. It returns how many.
func arrange(app *kong.Application, node *kong.Node, all bool) (hidden int) {
	if all {
		node.Detail = longHelp(node)
	}
	if node != app.Node {
		node.Flags = append(node.Flags, app.Flags...)
		app.Flags = nil
	}
	for _, f := range node.Flags {
		if !all && f.Tag.Has("expert") && !f.Hidden {
			f.Hidden = true
			hidden++
		}
	}
	return hidden
}

// longHelp is all that a verb has to say.
func longHelp(node *kong.Node) string {
	text := node.Detail
	if node.Target.IsValid() && node.Target.CanInterface() {
		if more, ok := node.Target.Interface().(moreHelp); ok {
			text += "\n\n" + more.MoreHelp()
		}
	}
	return text
}

// ownHelp words the parser's own flag like the others.
func ownHelp(parser *kong.Kong) {
	h := parser.Model.HelpFlag
	h.Help, h.Group = "This page.", generalGroup()
}

func generalGroup() *kong.Group { return &groups[len(groups)-1] }

// captured is what print writes to the parser's output.
func captured(parser *kong.Kong, w io.Writer, print func() error) error {
	old := parser.Stdout
	parser.Stdout = w
	defer func() { parser.Stdout = old }()
	return print()
}
