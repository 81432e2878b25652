package main

import (
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

type helpCmd struct {
	Verb []string `arg:"" optional:"" help:"A verb; or config, for fossick.toml and the environment."`
	All  bool     `help:"With every flag, as --help-all."`
}

func (helpCmd) Help() string {
	return `Says how a verb is used, as its --help does.

Examples:
  fossick help focus
  fossick help topic new
  fossick help focus --all
  fossick help config`
}

func (c helpCmd) Run(a *app, ctx *kong.Context) error {
	text, err := c.text(ctx.Kong)
	if err != nil {
		return err
	}
	return a.emit(struct {
		Help string `json:"help"`
	}{text}, func(w io.Writer) { io.WriteString(w, text) })
}

func (c helpCmd) text(parser *kong.Kong) (string, error) {
	if slices.Equal(c.Verb, []string{"config"}) {
		return configHelp, nil
	}
	node := parser.Model.Node
	for _, word := range c.Verb {
		child := childNamed(node, word)
		if child == nil {
			known := append(childNames(node), "config")
			return "", usagef("there is no verb %q%s; fossick help lists them", strings.Join(c.Verb, " "), didYouMean(word, known))
		}
		node = child
	}
	found, err := kong.Trace(parser, c.Verb)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = captured(parser, &b, func() error { return printHelp(found, c.All) })
	return b.String(), err
}

// configHelp is what help config prints; docs/config.md says more.
const configHelp = `Settings of fossick

Every flag can be set for good. What stands first counts:

  1. the flag on the command line         --max-pages 500
  2. the environment                      FOSSICK_MAX_PAGES=500
  3. fossick.toml in the working folder
  4. fossick/fossick.toml in the user's configuration folder
     (~/.config, or what XDG_CONFIG_HOME names)

A fossick.toml has flags by their long names without dashes. At the top they
hold for every verb that has them, in a verb's table for that verb alone:

  contact = "crawler@example.org"
  max-pages = "10k"

  [focus]
  delay = "5s"
  lang = ["en", "de"]
  sitemaps = true

  [topic.new]
  unlabelled = ["old-crawl/"]

Times are 500ms, 90s, 15m, 2h, 1d, 2w, or 0. Numbers are 500, 10k (thousand),
2M (million). Sizes are 500MB, 2GB (of 1024). A switch is true or false. Lists
are in brackets; in the environment by comma: FOSSICK_LANG=en,de.

A working folder may be a stranger's: allow-net is an error in its file, and
what it sets of proxy, listen, pprof and addr is said.

A key that no verb has, or a value that its flag cannot have, is an error that
names file and line. NO_COLOR and GOMEMLIMIT are obeyed as elsewhere.
`
