package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"fossick/frontier"
	"fossick/models"
	"fossick/train"
)

// The exit codes of every verb.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// errInterrupted ends a verb that a signal stopped after it had put everything
// in order and printed its result.
var errInterrupted = errors.New("interrupted")

// usageError is a mistake in the command line that the parser cannot see.
type usageError struct{ error }

func usagef(format string, args ...any) error {
	return usageError{fmt.Errorf(format, args...)}
}

// grammar is the command line: global flags and one field a verb.
type grammar struct {
	JSON      bool   `help:"Print exactly one JSON object on stdout."`
	Quiet     bool   `short:"q" help:"No progress on stderr, only errors."`
	Verbose   bool   `short:"v" help:"More on stderr."`
	LogFormat string `enum:"text,json" default:"text" help:"Format of the log lines on stderr: ${enum}."`
	Rand      int64  `default:"1" placeholder:"N" help:"Random seed [1]."`

	verbs
}

const description = `fossick crawls the web in the order of a recursive degree of relevance, cleans the collected pages with a trained classifier, and says how good the result is.

A first look, offline:

  fossick demo

Flags can also be set in the environment (FOSSICK_MAX_PAGES=500) and in fossick.toml in the working folder.`

// exit carries the parser's wish to end (after --help) to run.
type exit int

// run is the whole program: it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	asJSON := slices.Contains(args, "--json") // also for errors of the parser itself
	defer func() {
		switch r := recover().(type) {
		case nil:
		case exit:
			code = int(r)
		default:
			panic(r)
		}
	}()
	out := &outlet{w: stdout}
	stdout = out
	var g grammar
	options := append(valueMappers(),
		kong.Name("fossick"), kong.Description(description),
		kong.Writers(stdout, stderr),
		kong.Exit(func(code int) { panic(exit(code)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.Resolvers(newSettings()),
		kong.Vars{
			"topics":    strings.Join(models.BuiltinTopics(), ", "),
			"orders":    strings.Join(frontier.Orderings(), ", "),
			"sequences": strings.Join(frontier.Sequences(), ", "),
			"policies":  policyHelp(),
			"explore":   fmt.Sprint(defaultExplore),

			"classifiers": strings.Join(train.Classifiers(), ", "),
		},
	)
	parser, err := kong.New(&g, options...)
	if err != nil {
		return tellError(err, exitFailed, asJSON, stdout, stderr)
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return tellError(fmt.Errorf("%w; see fossick --help, or fossick VERB --help", err), exitUsage, asJSON, stdout, stderr)
	}
	a := newApp(ctx, &g, stdout, stderr)
	defer a.close()
	if err = parsed.Run(a); err == nil {
		if err = out.failed(); unheard(err) {
			return exitFailed
		}
	}
	if a.emitted && err != nil && errors.Is(err, errInterrupted) {
		return exitInterrupted
	}
	return tellError(err, codeOf(err), g.JSON && !a.emitted, stdout, stderr)
}

func codeOf(err error) int {
	var usage usageError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &usage):
		return exitUsage
	case errors.Is(err, errInterrupted), errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	return exitFailed
}

// tellError prints err where the user, or the program that called, looks for it.
func tellError(err error, code int, asJSON bool, stdout, stderr io.Writer) int {
	if err == nil {
		return code
	}
	if asJSON {
		_ = json.NewEncoder(inJSON(stdout)).Encode(map[string]string{"error": err.Error()}) // nowhere left to tell
	}
	fmt.Fprintln(plainly(stderr), "fossick:", err)
	return code
}
