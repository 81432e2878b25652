package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"fossick/internal/cli"
)

var options = kong.HelpOptions{
	Compact: true, FlagsLast: true, WrapUpperBound: 100, ValueFormatter: kong.DefaultHelpValueFormatter,
}

// More is a verb with more help than fits on a first screen.
type More interface{ MoreHelp() string }

// Print prints the help of the selected verb, without all only the flags that a newcomer needs. The
// grammar cannot be used afterwards.
func Print(ctx *kong.Context, all bool) error {
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
		node.Detail = Long(node)
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

// Long returns all the help of a verb.
func Long(node *kong.Node) string {
	text := node.Detail
	if node.Target.IsValid() && node.Target.CanInterface() {
		if more, ok := node.Target.Interface().(More); ok {
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

// HelpText returns the help of a verb, or of config, which is no verb but the settings.
func HelpText(parser *kong.Kong, verb []string, all bool) (string, error) {
	if slices.Equal(verb, []string{"config"}) {
		return configHelp, nil
	}
	node := parser.Model.Node
	for _, word := range verb {
		child := Child(node, word)
		if child == nil {
			known := append(Children(node), "config")
			return "", cli.Usagef("there is no verb %q%s; fossick help lists them", strings.Join(verb, " "), cli.DidYouMean(word, known))
		}
		node = child
	}
	found, err := kong.Trace(parser, verb)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = captured(parser, &b, func() error { return Print(found, all) })
	return b.String(), err
}

// Child returns the verb with a name below a node, or nil.
func Child(node *kong.Node, name string) *kong.Node {
	i := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == name })
	if i < 0 {
		return nil
	}
	return node.Children[i]
}

// Children returns the names of the verbs below a node.
func Children(node *kong.Node) (names []string) {
	for _, child := range node.Children {
		names = append(names, child.Name)
	}
	return names
}

// Path returns the words of a verb's name.
func Path(node *kong.Node) (path []string) {
	for ; node != nil && node.Type != kong.ApplicationNode; node = node.Parent {
		path = append([]string{node.Name}, path...)
	}
	return path
}

// Verbs returns the executable verbs below a node.
func Verbs(node *kong.Node) (verbs []*kong.Node) {
	for _, child := range node.Children {
		switch {
		case child.Hidden:
		case child.Leaf():
			verbs = append(verbs, child)
		default:
			verbs = append(verbs, Verbs(child)...)
		}
	}
	return verbs
}
