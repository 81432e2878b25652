package main

import (
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"fossick/internal/help"
	"fossick/internal/printable"
	"fossick/internal/settings"
)

type manCmd struct {
	Verb []string `arg:"" optional:"" help:"Verb whose page to print; without it, the page of fossick itself."`
	Out  string   `short:"o" placeholder:"DIR" help:"Write all pages into this folder instead, a file each."`
}

func (manCmd) Help() string {
	return `Prints manual pages, made from the help: one for fossick, one for each verb, one for fossick.toml.

Examples:
  fossick man focus >fossick-focus.1
  fossick man -o man1`
}

// manResult is what man prints: a page, or the files that were written.
type manResult struct {
	Page  *string  `json:"page"`
	Files []string `json:"files"`
}

func (c manCmd) Run(a *app, ctx *kong.Context) error {
	app := ctx.Model
	if c.Out != "" {
		return c.writeAll(a, app)
	}
	node := app.Node
	for _, word := range c.Verb {
		child := help.Child(node, word)
		if child == nil {
			return usagef("there is no verb %q%s; fossick help lists them", strings.Join(c.Verb, " "), printable.DidYouMean(word, help.Children(node)))
		}
		node = child
	}
	page := manual.Page(app, node)
	return a.emit(manResult{Page: &page, Files: []string{}}, func(w io.Writer) { io.WriteString(w, page) })
}

func (c manCmd) writeAll(a *app, app *kong.Application) error {
	if len(c.Verb) > 0 {
		return usagef("-o writes all pages; leave %s out", strings.Join(c.Verb, " "))
	}
	files, err := manual.WriteAll(c.Out, app)
	if err != nil {
		return err
	}
	return a.emit(manResult{Files: files}, func(w io.Writer) {
		printable.Fprintf(w, "%d manual pages in %s; read one: man -l %s\n", len(files), c.Out, files[0])
	})
}

// manual makes the pages of this build.
var manual = help.Manual{Version: version, Settings: settings.Help}
