package main

import (
	"io"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/posener/complete"
	"github.com/willabides/kongplete"

	"fossick/crawler/plan"
	"fossick/datasets/web"
	"fossick/graph/orders"
	"fossick/graph/rank"
	"fossick/train"
	"fossick/train/topics"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

func (completionCmd) Help() string {
	return `Prints a script with which a shell completes fossick's verbs, flags, values, topics and files. The script asks fossick itself, so you need not print it again for a new version. Put the example for your shell into its start file to keep it.

Examples:
  source <(fossick completion bash)
  fossick completion zsh >fossick.zsh
  fossick completion fish >fossick.fish`
}

// completionScripts make a shell ask fossick, which reads the line typed so far from COMP_LINE.
var completionScripts = map[string]string{
	"bash": "complete -o default -C fossick fossick\n",
	"zsh":  "autoload -U +X bashcompinit && bashcompinit\ncomplete -o default -C fossick fossick\n",
	"fish": `function __complete_fossick
    set -lx COMP_LINE (commandline -cp)
    test -z (commandline -ct)
    and set COMP_LINE "$COMP_LINE "
    fossick
end
complete -c fossick -a "(__complete_fossick)"
`,
}

func (c completionCmd) Run(a *app) error {
	script := completionScripts[c.Shell]
	return a.emit(struct {
		Shell  string `json:"shell"`
		Script string `json:"script"`
	}{c.Shell, script}, func(w io.Writer) { io.WriteString(w, script) })
}

// completeLine answers a shell's request for completions and then ends the program.
func completeLine(parser *kong.Kong) {
	predictors := map[string]complete.Predictor{}
	verbs := append(childNames(parser.Model.Node), "config")
	_ = kong.Visit(parser.Model.Node, func(n kong.Visitable, next kong.Next) error { // the visitor returns no error
		switch n := n.(type) {
		case *kong.Flag:
			if n.Tag.Has("predictor") {
				predictors[n.Tag.Get("predictor")] = predictor(n.Tag.Get("predictor"))
			}
		case *kong.Value:
			if n.Tag.Has("predictor") {
				predictors[n.Tag.Get("predictor")] = predictor(n.Tag.Get("predictor"))
			}
		}
		return next(nil)
	})
	predictors["verbs"] = complete.PredictSet(verbs...)
	kongplete.Complete(parser, kongplete.WithPredictors(predictors))
}

// kinds lists the values of a flag, by the name in its tag predictor:"…".
var kinds = map[string]func() []string{
	"topics":      topics.Names,
	"models":      topics.Names,
	"sets":        func() []string { return []string{"demo"} },
	"policies":    plan.Names,
	"orders":      orders.Orderings,
	"sequences":   orders.Sequences,
	"classifiers": train.Classifiers,
	"rankings":    rank.Methods,
	"faults": func() []string {
		names := []string{"list"}
		for _, f := range web.Faults() {
			names = append(names, f.Name)
		}
		return names
	},
}

// predictor completes what a tag names: kinds of values, files, dirs, or words.
func predictor(tag string) complete.Predictor {
	var all []complete.Predictor
	for kind := range strings.SplitSeq(tag, ",") {
		words, known := kinds[kind]
		switch {
		case known:
			all = append(all, complete.PredictFunc(func(complete.Args) []string { return words() }))
		case kind != "files" && kind != "dirs":
			all = append(all, complete.PredictSet(kind))
		}
		switch kind {
		case "files", "models", "sets":
			all = append(all, complete.PredictFiles("*"))
		case "dirs", "topics":
			all = append(all, complete.PredictDirs("*"))
		}
	}
	return complete.PredictOr(all...)
}
