package main

import (
	"io"

	"fossick/internal/help"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

func (completionCmd) Help() string {
	return `Prints a script with which a shell completes fossick's verbs, flags, values, topics and files. The script asks fossick itself, so you need not print it again for a new version.

Examples:
  source <(fossick completion bash)
  fossick completion bash >fossick.bash
  fossick completion zsh >_fossick
  fossick completion fish >fossick.fish`
}

// MoreHelp implements help.More.
func (completionCmd) MoreHelp() string {
	return `To install the script for good, write it to ~/.local/share/bash-completion/completions/fossick (bash), to _fossick in a folder of $fpath (zsh) or to ~/.config/fish/completions/fossick.fish (fish).`
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
