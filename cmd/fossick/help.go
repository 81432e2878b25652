package main

import (
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"fossick/internal/cli"
)

// groups are the groups of flags and verbs, by the keys in their tags.
var groups = []kong.Group{
	{Key: "crawl", Title: "Crawl:"},
	{Key: "learn", Title: "Learn and judge:"},
	{Key: "look", Title: "Look into a crawl:"},
	{Key: "graphs", Title: "Experiments and graphs:"},
	{Key: "self", Title: "This program:"},

	{Key: "what", Title: "Topic and start pages:"},
	{Key: "run", Title: "The crawl:"},
	{Key: "score", Title: "How links are ordered:"},
	{Key: "scope", Title: "Scope:"},
	{Key: "manners", Title: "Manners:"},
	{Key: "cluster", Title: "The other machines:"},
	{Key: "net", Title: "Network:"},

	{Key: "made", Title: "Output:"},
	{Key: "rows", Title: "Which pages:"},
	{Key: "words", Title: "Which words:"},
	{Key: "methods", Title: "Classifiers:"},
	{Key: "trials", Title: "Experiments instead of a model:"},
	{Key: "space", Title: "Memory:"},
	{Key: "sets", Title: "Crawls and start pages:"},
	{Key: "polite", Title: "Manners, in simulated time:"},
	{Key: "general", Title: "With every verb:"},
}

type helpAllFlag bool

func (helpAllFlag) BeforeReset(ctx *kong.Context) error {
	if err := printHelp(ctx, true); err != nil {
		return err
	}
	ctx.Exit(exitDone)
	return nil
}

// ownHelp gives the parser's own --help the wording and group of the other flags.
func ownHelp(parser *kong.Kong) {
	h := parser.Model.HelpFlag
	h.Help, h.Group = "Show this page.", generalGroup()
}

func generalGroup() *kong.Group { return &groups[len(groups)-1] }

type helpCmd struct {
	Verb []string `arg:"" optional:"" predictor:"verbs" help:"A verb; or config, for fossick.toml and the environment."`
	All  bool     `help:"Show every flag, as --help-all."`
}

func (helpCmd) Help() string {
	return `Shows how to use a verb, as its --help does.

Examples:
  fossick help focus
  fossick help topic new
  fossick help focus --all
  fossick help config`
}

func (c helpCmd) Run(a *app, ctx *kong.Context) error {
	text, err := helpText(ctx.Kong, c.Verb, c.All)
	if err != nil {
		return err
	}
	return a.emit(struct {
		Help string `json:"help"`
	}{text}, func(w io.Writer) { io.WriteString(w, text) })
}

var options = kong.HelpOptions{
	Compact: true, FlagsLast: true, WrapUpperBound: 100, ValueFormatter: kong.DefaultHelpValueFormatter,
}

// moreHelp is a verb with more help than fits on a first screen.
type moreHelp interface{ MoreHelp() string }

// printHelp prints the help of the selected verb, without all only the flags that a newcomer needs. The
// grammar cannot be used afterwards.
func printHelp(ctx *kong.Context, all bool) error {
	node := ctx.Selected()
	if node == nil {
		node = ctx.Model.Node
	}
	hidden := arrange(ctx.Model, node, all)
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return err
	}
	if hidden > 0 {
		cli.Fprintf(ctx.Stdout, "\n%d more flags: %s --help-all\n", hidden, node.FullPath())
	}
	if node == ctx.Model.Node {
		io.WriteString(ctx.Stdout, "\nTo set flags in a file or the environment: fossick help config\n")
	}
	return nil
}

// arrange prepares the grammar for printing a node's help: flags common to all verbs come last, and
// without all, expert flags are hidden. It returns their number.
func arrange(app *kong.Application, node *kong.Node, all bool) (hidden int) {
	if all {
		node.Detail = longHelp(node)
	}
	if node != app.Node {
		node.Flags = append(node.Flags, app.Flags...)
		app.Flags = nil
	}
	for _, f := range node.Flags {
		if !all && (f.Tag.Has("expert") || ofOthers(node, f)) && !f.Hidden {
			f.Hidden = true
			hidden++
		}
	}
	return hidden
}

// ofOthers reports a flag for several machines at a verb that mostly works on one.
func ofOthers(node *kong.Node, f *kong.Flag) bool {
	return f.Group != nil && f.Group.Key == "cluster" && node.Tag != nil && node.Tag.Has("alone")
}

// longHelp returns all the help of a verb.
func longHelp(node *kong.Node) string {
	text := node.Detail
	if node.Target.IsValid() && node.Target.CanInterface() {
		if more, ok := node.Target.Interface().(moreHelp); ok {
			text += "\n\n" + more.MoreHelp()
		}
	}
	return text
}

// captured runs print with the parser's output redirected to w.
func captured(parser *kong.Kong, w io.Writer, print func() error) error {
	old := parser.Stdout
	parser.Stdout = w
	defer func() { parser.Stdout = old }()
	return print()
}

// helpText returns the help of a verb, or of config, which is no verb but the settings.
func helpText(parser *kong.Kong, verb []string, all bool) (string, error) {
	if slices.Equal(verb, []string{"config"}) {
		return configHelp, nil
	}
	node := parser.Model.Node
	for _, word := range verb {
		child := childVerb(node, word)
		if child == nil {
			known := append(childNames(node), "config")
			return "", cli.Usagef("there is no verb %q%s; fossick help lists them", strings.Join(verb, " "), cli.DidYouMean(word, known))
		}
		node = child
	}
	found, err := kong.Trace(parser, verb)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = captured(parser, &b, func() error { return printHelp(found, all) })
	return b.String(), err
}

// childVerb returns the verb with a name below a node, or nil.
func childVerb(node *kong.Node, name string) *kong.Node {
	i := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == name })
	if i < 0 {
		return nil
	}
	return node.Children[i]
}

// childNames returns the names of the verbs below a node.
func childNames(node *kong.Node) (names []string) {
	for _, child := range node.Children {
		names = append(names, child.Name)
	}
	return names
}

// verbPath returns the words of a verb's name.
func verbPath(node *kong.Node) (path []string) {
	for ; node != nil && node.Type != kong.ApplicationNode; node = node.Parent {
		path = append([]string{node.Name}, path...)
	}
	return path
}
