package main

import (
	"io"

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
	if err := cli.Print(ctx, true); err != nil {
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
	text, err := cli.HelpText(ctx.Kong, c.Verb, c.All)
	if err != nil {
		return err
	}
	return a.emit(struct {
		Help string `json:"help"`
	}{text}, func(w io.Writer) { io.WriteString(w, text) })
}
