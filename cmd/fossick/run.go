package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"fossick/crawler/plan"
	"fossick/graph/orders"
	"fossick/internal/cli"
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

// errInterrupted ends a verb that a signal stopped, after it has cleaned up and printed its result.
var errInterrupted = errors.New("interrupted")

// usagef returns an error for a mistake in the command line that the parser cannot see.
func usagef(format string, args ...any) error { return cli.Usagef(format, args...) }

// grammar is the command line: global flags and a field for each verb.
type grammar struct {
	HelpAll   helpAllFlag `group:"general" help:"Show this page with every flag."`
	JSON      bool        `group:"general" help:"Print exactly one JSON object on stdout."`
	Quiet     bool        `group:"general" short:"q" help:"Print no progress on stderr, only errors."`
	Verbose   bool        `group:"general" short:"v" expert:"" help:"Print more on stderr."`
	LogFormat string      `group:"general" enum:"text,json" default:"text" placeholder:"FORMAT" expert:"" help:"Format of the log lines on stderr: text or json [text]."`
	Rand      int64       `group:"general" default:"1" placeholder:"N" expert:"" help:"Random seed [1]."`
	Version   versionFlag `group:"general" expert:"" help:"Print version, commit and Go version."`

	verbs
}

const description = `fossick crawls the web for a topic, best links first, drops the pages off topic with a trained classifier, and measures how good the result is.

A first look, offline:

  fossick demo`

// exit is the panic by which the parser ends run, for example after --help.
type exit int

// run is the whole program; it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	asJSON := slices.Contains(args, "--json") // also for the parser's own errors
	defer func() {
		switch r := recover().(type) {
		case nil:
		case exit:
			code = int(r)
		default:
			panic(r)
		}
	}()
	out := &outlet{W: stdout}
	stdout = out
	var g grammar
	set := readSettings(harmless)
	parser, err := newGrammar(&g, set, stdout, stderr, asJSON)
	if err != nil {
		return tellError(err, exitFailed, asJSON, stdout, stderr)
	}
	if os.Getenv("COMP_LINE") != "" {
		completeLine(parser)
	}
	switch {
	case len(args) == 0:
		args = []string{"--help"}
	case formerly[args[0]] != nil:
		args = append(slices.Clone(formerly[args[0]]), args[1:]...)
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return tellError(whereHelpIs(err, args), exitUsage, asJSON, stdout, stderr)
	}
	a := newApp(ctx, &g, stdout, stderr)
	defer a.close()
	a.tellFolder(set)
	for _, sentence := range unknownEnvWarnings(parser.Model, os.Environ()) {
		a.say("%s", sentence)
	}
	if err = parsed.Run(a); err == nil {
		if err = out.Failed(); closedPipe(err) {
			return exitFailed
		}
	}
	if a.emitted && err != nil && errors.Is(err, errInterrupted) {
		return exitInterrupted
	}
	return tellError(err, codeOf(err), g.JSON && !a.emitted, stdout, stderr)
}

// tellFolder prints the flags that the working folder's fossick.toml sets. --quiet hides them only
// for a trusted folder.
func (a *app) tellFolder(set *settings) {
	flags, trusted := set.OfFolder()
	if len(flags) == 0 || trusted && a.quiet {
		return
	}
	cli.Fprintf(cli.Text(a.stderr), "%s of this folder sets %s\n", settingsFile, strings.Join(flags, ", "))
}

func newGrammar(g *grammar, set *settings, stdout, stderr io.Writer, asJSON bool) (*kong.Kong, error) {
	options := append(valueMappers(),
		kong.Name("fossick"), kong.Description(description),
		kong.Writers(stdout, stderr),
		kong.Exit(func(code int) { panic(exit(code)) }),
		kong.Help(func(_ kong.HelpOptions, ctx *kong.Context) error { return printHelp(ctx, false) }),
		kong.ExplicitGroups(groups), kong.Bind(jsonWanted(asJSON)),
		kong.Resolvers(set),
	)
	parser, err := kong.New(g, options...)
	if err == nil {
		fillIn(parser)
		ownHelp(parser)
		surveyHelp(parser)
		agentHelp(parser)
	}
	return parser, err
}

// fillIn replaces the names of lists in the tags of flags. Kong's variables took a third of the start,
// so tags have $${name}, which Kong turns into ${name}.
func fillIn(parser *kong.Kong) {
	fill := strings.NewReplacer(
		"${topics}", strings.Join(models.BuiltinTopics(), ", "),
		"${orders}", strings.Join(orders.Orderings(), ", "),
		"${sequences}", strings.Join(orders.Sequences(), ", "),
		"${scores}", strings.Join(plan.Names(), ", "),
		"${formats}", strings.Join(exportFormatNames(), ","),
		"${revisits}", strings.Join(policyNames(), ","),
		"${classifiers}", strings.Join(train.Classifiers(), ", "),
	)
	_ = kong.Visit(parser.Model.Node, func(n kong.Visitable, next kong.Next) error { // the visitor returns no error
		switch n := n.(type) {
		case *kong.Node:
			n.Help = fill.Replace(n.Help)
		case *kong.Flag:
			n.PlaceHolder = fill.Replace(n.PlaceHolder)
		case *kong.Value:
			n.Help, n.Enum, n.Default = fill.Replace(n.Help), fill.Replace(n.Enum), fill.Replace(n.Default)
		}
		return next(nil)
	})
}

// formerly maps former names of verbs, which still work, to the present ones.
var formerly = map[string][]string{"propose": {"topic", "propose"}, "frontier": {"cluster", "frontier"}}

// meant maps words that people try to verbs.
var meant = map[string]string{
	"crawl": "focus", "scrape": "focus", "spider": "focus", "fetch": "focus", "download": "focus", "get": "focus", "start": "focus", "run": "focus", "resume": "focus --resume",
	"find": "search", "query": "search", "grep": "search", "delete": "forget", "remove": "forget", "rm": "forget",
	"compare": "eval", "evaluate": "eval", "score": "eval", "report": "eval --html", "predict": "classify", "learn": "train", "model": "train",
	"check": "verify", "fix": "repair", "status": "stats", "show": "why", "explain": "why", "list": "topic list", "new": "topic new", "diff": "watch --since", "changes": "watch --since", "refresh": "focus --resume --refresh",
}

// whereHelpIs rewords an error of the parser and names the help page that fits.
func whereHelpIs(err error, args []string) error {
	bad, ok := errors.AsType[*kong.ParseError](err)
	if !ok {
		return fmt.Errorf("%w; see fossick --help", err)
	}
	verb := bad.Context.Selected()
	if verb == nil {
		for _, word := range args {
			if one := meant[word]; one != "" {
				return fmt.Errorf("there is no verb %q; did you mean fossick %s? See fossick --help", word, one)
			}
		}
		if word, is := strings.CutPrefix(err.Error(), "unexpected argument "); is {
			err = errors.New("there is no verb " + strings.ReplaceAll(word, ", did", "; did"))
		}
		return fmt.Errorf("%w; see fossick --help", err)
	}
	if flags, is := strings.CutPrefix(err.Error(), "missing flags: "); is {
		err = fmt.Errorf("%s needs %s", verb.FullPath(), flags)
	}
	if missing, is := strings.CutPrefix(err.Error(), `expected "<`); is {
		name, _, _ := strings.Cut(missing, ">")
		for _, arg := range verb.Positional {
			if arg.Name == name {
				err = fmt.Errorf("%s needs %s: %s", verb.FullPath(), strings.ToUpper(name), strings.TrimSuffix(arg.Help, "."))
			}
		}
	}
	return fmt.Errorf("%w; see %s --help", err, verb.FullPath())
}

func codeOf(err error) int {
	var mistake cli.UsageError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &mistake):
		return exitUsage
	case errors.Is(err, errInterrupted), errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	return exitFailed
}

// oneLine returns an error's text on one line; joined errors have several.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// tellError prints err on stderr and, with --json, on stdout.
func tellError(err error, code int, asJSON bool, stdout, stderr io.Writer) int {
	if err == nil {
		return code
	}
	if asJSON {
		_ = json.NewEncoder(cli.JSON(stdout)).Encode(map[string]string{"error": err.Error()}) // there is nowhere to report an error
	}
	cli.Fprintln(cli.Text(stderr), "fossick:", oneLine(err))
	return code
}

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}

// harmlessTexts are the text flags that name no file, program, address, start page, model or identity:
// a bad value spoils a crawl, but leads it nowhere else.
var harmlessTexts = []string{
	"also", "classifier", "contact", "delay", "exclude", "include", "lang", "links", "log-format", "max-bytes", "method",
	"order", "patience", "policy", "score", "tld", "types",
}

// refusedSwitches are the switches that a stranger's file must not set: quiet hides what the file does,
// partial accepts damage, all may write more than was asked, and ui starts a browser.
var refusedSwitches = []string{"quiet", "partial", "all", "ui"}

// harmless says whether the fossick.toml of a working folder, which may be a stranger's, may set a flag.
// Only listed text flags pass, so that new ones are refused.
func harmless(flag *kong.Flag) bool {
	typ := flag.Target.Type()
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	switch kind := typ.Kind(); {
	case kind == reflect.Bool:
		return !slices.Contains(refusedSwitches, flag.Name)
	case kind >= reflect.Int && kind <= reflect.Float64:
		return true
	}
	return slices.Contains(harmlessTexts, flag.Name)
}

type verbs struct {
	Demo        demoCmd        `cmd:"" group:"crawl" help:"Show all of fossick at work on a small web of its own, offline."`
	Train       trainCmd       `cmd:"" group:"learn" help:"Train a classifier on a labelled set."`
	Classify    classifyCmd    `cmd:"" group:"learn" help:"Label pages with a model, and say why."`
	Topic       topicCmd       `cmd:"" group:"crawl" help:"List, show, check and make topics, and propose start pages."`
	Focus       focusCmd       `cmd:"" group:"crawl" help:"Crawl for a topic, best links first."`
	Survey      surveyCmd      `cmd:"" group:"crawl" help:"Crawl sites party by party, and list the seeds of the next survey."`
	Agent       agentCmd       `cmd:"" group:"crawl" help:"Crawl together with other machines."`
	Coordinator coordinatorCmd `cmd:"" group:"crawl" help:"Run the agent that coordinates the others."`
	Identity    identityCmd    `cmd:"" group:"crawl" help:"Make the key that signs requests, and what sites need to know it."`
	Cluster     clusterCmd     `cmd:"" group:"crawl" help:"Prepare and watch the machines of one crawl."`
	Refine      refineCmd      `cmd:"" group:"learn" help:"Label the pages of a crawl and drop those off topic."`
	Eval        evalCmd        `cmd:"" group:"learn" help:"Measure how good a crawl is."`
	Lab         labCmd         `cmd:"" group:"graphs" help:"Compare crawl policies on a stored web."`
	Graph       graphCmd       `cmd:"" group:"graphs" help:"Build a compressed graph of links."`
	Simulate    simulateCmd    `cmd:"" group:"graphs" help:"Crawl a graph virtually by several orderings."`
	Rank        rankCmd        `cmd:"" alone:"" group:"graphs" help:"Rank pages by their links: PageRank, BlockRank, HITS."`
	Serve       serveCmd       `cmd:"" group:"graphs" help:"Serve a corpus as a web of many hosts on loopback."`
	Why         whyCmd         `cmd:"" group:"look" help:"Tell the history of one URL of a crawl."`
	Label       labelCmd       `cmd:"" group:"look" help:"Label a page of a crawl, even a running one, as on or off topic."`
	Export      exportCmd      `cmd:"" group:"look" help:"Write the pages of a crawl as tables, text, archives or networks."`
	Convert     convertCmd     `cmd:"" alone:"" group:"look" help:"Turn crawls into numbered tables for a database, and their links into a graph."`
	Import      importCmd      `cmd:"" group:"look" help:"Make a store from pages that other programs have collected."`
	Stats       statsCmd       `cmd:"" group:"look" help:"Describe a web: outcomes, sizes, types, links, domains."`
	Watch       watchCmd       `cmd:"" group:"look" help:"Visit the pages of a crawl again and again, and measure how they change."`
	UI          uiCmd          `cmd:"" name:"ui" group:"look" help:"Show crawls in the browser: watch, judge, search."`
	Search      searchCmd      `cmd:"" group:"look" help:"Find pages of a crawl by their words."`
	Forget      forgetCmd      `cmd:"" group:"look" help:"Delete pages on their owner's request, and never fetch them again."`
	Verify      verifyCmd      `cmd:"" group:"look" help:"Check a store, record by record."`
	Repair      repairCmd      `cmd:"" group:"look" help:"Repair the errors that verify finds."`

	Help       helpCmd       `cmd:"" group:"self" help:"Show how to use a verb; help config explains fossick.toml."`
	Completion completionCmd `cmd:"" group:"self" help:"Print a script with which a shell completes verbs, flags and values."`
	Version    versionCmd    `cmd:"" group:"self" help:"Print version, commit and Go version."`
}
