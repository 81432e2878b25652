package main

import (
	"io"

	"fossick/internal/help"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

func (completionCmd) Help() string {
	return `Prints a script that makes a shell complete fossick's verbs, flags, their values, topics and files. It asks fossick itself, so it need not be made again for a new version.

Examples:
  source <(fossick completion bash)
  fossick completion bash >fossick.bash
  fossick completion zsh >_fossick
  fossick completion fish >fossick.fish`
}

// MoreHelp implements help.More.
func (completionCmd) MoreHelp() string {
	return `For good: bash reads ~/.local/share/bash-completion/completions/fossick, zsh _fossick in a folder of $fpath, fish ~/.config/fish/completions/fossick.fish.`
}

func (c completionCmd) Run(a *app) error {
	script, err := help.Script(c.Shell)
	if err != nil {
		return err
	}
	return a.emit(struct {
		Shell  string `json:"shell"`
		Script string `json:"script"`
	}{c.Shell, string(script)}, func(w io.Writer) { w.Write(script) })
}
