package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/alecthomas/kong"

	"fossick/internal/printable"
)

type manCmd struct {
	Verb []string `arg:"" optional:"" help:"The verb whose page is printed; none is that of fossick itself."`
	Out  string   `short:"o" placeholder:"DIR" help:"Write all pages into this folder instead, a file each."`
}

func (manCmd) Help() string {
	return `Prints manual pages for man, made from the help: one of fossick, one of each verb, one of fossick.toml.

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
		child := childNamed(node, word)
		if child == nil {
			return usagef("there is no verb %q%s; fossick help lists them", strings.Join(c.Verb, " "), didYouMean(word, childNames(node)))
		}
		node = child
	}
	page := manPage(app, node)
	return a.emit(manResult{Page: &page, Files: []string{}}, func(w io.Writer) { io.WriteString(w, page) })
}

func (c manCmd) writeAll(a *app, app *kong.Application) error {
	if len(c.Verb) > 0 {
		return usagef("-o writes all pages; leave %s out", strings.Join(c.Verb, " "))
	}
	if err := os.MkdirAll(c.Out, 0o755); err != nil {
		return fmt.Errorf("manual pages: %w; name another folder", err)
	}
	r := manResult{Files: []string{}}
	write := func(name, page string) error {
		path := filepath.Join(c.Out, name)
		r.Files = append(r.Files, path)
		return os.WriteFile(path, []byte(page), 0o644)
	}
	for _, node := range append([]*kong.Node{app.Node}, verbNodes(app.Node)...) {
		if err := write(manName(node)+".1", manPage(app, node)); err != nil {
			return fmt.Errorf("manual pages: %w", err)
		}
	}
	if err := write(settingsName+".5", manConfig()); err != nil {
		return fmt.Errorf("manual pages: %w", err)
	}
	return a.emit(r, func(w io.Writer) {
		printable.Fprintf(w, "%d manual pages in %s; read one: man -l %s\n", len(r.Files), c.Out, r.Files[0])
	})
}

// verbNodes returns the verbs below a node that do something themselves.
func verbNodes(node *kong.Node) (verbs []*kong.Node) {
	for _, child := range node.Children {
		switch {
		case child.Hidden:
		case child.Leaf():
			verbs = append(verbs, child)
		default:
			verbs = append(verbs, verbNodes(child)...)
		}
	}
	return verbs
}

// manName is the name of a verb's page.
func manName(node *kong.Node) string {
	return strings.Join(append([]string{"fossick"}, verbPath(node)...), "-")
}

// manPage is the page of a verb, or of fossick itself.
func manPage(app *kong.Application, node *kong.Node) string {
	p := newRoff(manName(node), 1)
	if node == app.Node {
		p.name("topic-focused web crawler with a trained classifier pipeline")
		p.section("SYNOPSIS")
		p.line(".B fossick")
		p.line(".I verb")
		p.line(`[\fIarguments\fR] [\fIflags\fR]`)
		p.section("DESCRIPTION")
		p.text(node.Help)
		p.section("VERBS")
		for _, verb := range verbNodes(node) {
			p.item(`\fB`+roffEscape(strings.TrimPrefix(verb.FullPath(), "fossick "))+`\fR`, verb.Help)
		}
	} else {
		p.name(strings.TrimSuffix(node.Help, "."))
		p.section("SYNOPSIS")
		p.line(".B " + roffEscape(node.FullPath()))
		p.line(roffEscape(strings.TrimSpace(strings.TrimPrefix(node.Summary(), node.Path()))))
		p.section("DESCRIPTION")
		p.text(longHelp(node))
		p.arguments(node)
	}
	p.section("OPTIONS")
	p.flags(node.Flags)
	if node != app.Node {
		p.flags(app.Flags)
	}
	p.ending(node == app.Node)
	return p.String()
}

// manConfig is the page of fossick.toml.
func manConfig() string {
	p := newRoff(settingsName, 5)
	p.name("settings of fossick")
	p.section("DESCRIPTION")
	_, text, _ := strings.Cut(configHelp, "\n\n")
	p.text(text)
	p.section("SEE ALSO")
	p.line(`.BR fossick (1)`)
	return p.String()
}
