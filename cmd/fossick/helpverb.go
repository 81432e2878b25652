package main

import (
	"io"

	"github.com/alecthomas/kong"

	"fossick/internal/cli"
)

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
