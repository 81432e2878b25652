package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"fossick/crawler/control"
	"fossick/crawler/plan"
	"fossick/datasets"
	"fossick/internal/cli"
	"fossick/internal/page"
	"fossick/store"
	"fossick/ui"
)

type labelCmd struct {
	URL   string `arg:"" optional:"" name:"url" help:"The URL to label: a page of the crawl, or one that waits."`
	Label string `arg:"" optional:"" name:"yes|no|none" help:"Whether it is on topic; none takes an earlier label back." predictor:"yes,no,none"`
	Store string `required:"" placeholder:"DIR" help:"Folder of the crawl's store."`
	From  string `placeholder:"FILE" help:"Instead of one URL, many at once: url TAB yes|no|none a line, - for standard input."`
	Topic string `placeholder:"NAME" help:"Topic of the label, if several topics share the crawl."`
	Ask   int    `placeholder:"N" help:"Show the N pages, fetched or waiting, whose labels would change the crawl most; at a terminal, a key labels each."`
}

func (labelCmd) Help() string {
	return `Labels a page as on topic or off topic. The crawl trusts the label over its model, and so do refine and eval. A crawl with --score learned also corrects its model by the words of the labelled pages, and judges similar pages and links again. A waiting URL can be labelled too: it is fetched next or last, and the text of the link to it makes the crawl judge similar links again. A running crawl applies a label within seconds; any other crawl applies it when it is resumed. The last label of a URL counts; none takes it back, and the crawl judges as if it had never been given. Where several topics share a crawl, --topic names the topic of the label; a URL has one label for each topic.

Examples:
  fossick label http://example.org/loans no --store fossick-banking
  fossick label http://example.org/loans none --store fossick-banking
  fossick label --ask 10 --store fossick-banking
  fossick label --from marks.tsv --store fossick-banking`
}

// labelResult is the output of label; url and label are set if one page was labelled.
type labelResult struct {
	URL     *string `json:"url"`
	Label   *string `json:"label"`
	Applied float64 `json:"applied_seconds"`
	control.LabelAnswer
}

func (c labelCmd) Run(a *app) error {
	if c.Ask != 0 {
		return c.ask(a)
	}
	labels, err := c.labels()
	if err != nil {
		return err
	}
	began := time.Now()
	r, request := labelResult{}, control.LabelRequest{Labels: labels, Topic: c.Topic}
	s, err := store.Open(c.Store)
	switch {
	case errors.Is(err, store.ErrBusy):
		err = control.Ask(a.ctx, c.Store, "/label", request, &r.LabelAnswer, err)
	case err == nil:
		var urls *page.Normalizer
		if urls, err = plan.URLs(s); err == nil {
			r.LabelAnswer, err = control.LabelStored(s, urls, request)
		}
		err = errors.Join(err, s.Close())
	}
	if err != nil {
		return err
	}
	r.Applied = time.Since(began).Seconds()
	if c.From == "" {
		r.URL, r.Label = &r.Labels[0].URL, &r.Labels[0].Label
	}
	return a.emit(r, r.print)
}

func (c labelCmd) labels() ([]control.Label, error) {
	switch {
	case c.From == "" && (c.URL == "" || c.Label == ""):
		return nil, usagef("give a URL and yes, no or none, or --from FILE, or --ask N")
	case c.From == "":
		one := control.Label{URL: c.URL, Label: c.Label}
		return []control.Label{one}, one.Check()
	case c.URL != "":
		return nil, usagef("give a URL or --from FILE, not both")
	}
	file := io.ReadCloser(os.Stdin)
	if c.From != "-" {
		var err error
		if file, err = datasets.OpenList(c.From); err != nil {
			return nil, fmt.Errorf("--from: %w", err)
		}
		defer file.Close()
	}
	return control.ReadLabels(file, c.From)
}

func (r labelResult) print(w io.Writer) {
	for _, l := range r.Labels {
		cli.Fprintf(w, "%s: %s\n", l.URL, l.Label)
	}
	switch {
	case r.Learned:
		cli.Fprintf(w, "the running crawl applied it in %.2f s\n", r.Applied)
	case r.Running:
		io.WriteString(w, "kept; only crawls with --score learned learn from labels, and this one has another --score\n")
	default:
		io.WriteString(w, "kept; no crawl is running. A resumed crawl with --score learned will learn from it\n")
	}
}

// ask shows the pages whose labels would change the crawl most; at a terminal it takes the answers.
func (c labelCmd) ask(a *app) (err error) {
	if c.URL != "" || c.From != "" {
		return usagef("--ask chooses the pages; leave URL and --from out")
	}
	if err := control.CheckQuestions(c.Ask); err != nil {
		return err
	}
	examiner, done, err := c.examiner(a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if a.json || !isLive(a.stdout) || !term.IsTerminal(int(os.Stdin.Fd())) {
		asked, err := examiner.Ask(a.ctx, c.Ask)
		if err != nil {
			return err
		}
		return a.emit(&control.Interviewed{Asked: asked, Labels: []control.Label{}}, func(w io.Writer) { printAsked(w, asked, c.said()) })
	}
	a.screen.Clear()
	v := control.Interview{Examiner: examiner, Count: c.Ask, Out: a.stdout, Key: func() (byte, error) { return pressed(a.ctx) }}
	r, err := v.Hold(a.ctx)
	if err != nil {
		return err
	}
	return a.emit(r, r.Print)
}

// examiner returns the questions of the running crawl, or of a crawl that has stopped.
func (c labelCmd) examiner(a *app) (control.Examiner, func() error, error) {
	s, err := store.Open(c.Store)
	if errors.Is(err, store.ErrBusy) {
		return control.Running{Dir: c.Store, Topic: c.Topic, Busy: err}, func() error { return nil }, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer a.step("reading the crawl")()
	r, err := a.examiner(s, c.Topic)
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	return r, s.Close, nil
}

// examiner returns the questions of the crawl in a store that does not run.
func (a *app) examiner(s *store.Store, topic string) (ui.Examiner, error) {
	crawl := plan.Crawl{Resume: true, Store: s.Dir()}
	if _, err := crawl.Recall(s); err != nil {
		return nil, err
	}
	plan, err := crawl.Plan(plan.Program{Version: version, Seed: a.seed, Log: a.log, Say: a.say})
	if err != nil {
		return nil, err
	}
	return control.Rest(s, plan.Crawl.URLs, plan.Crawl.Scorer, topic)
}

// pressed waits for one key without Enter, and restores the terminal afterwards.
func pressed(ctx context.Context) (byte, error) {
	in := int(os.Stdin.Fd())
	as, err := term.MakeRaw(in)
	if err != nil {
		return 0, err
	}
	defer term.Restore(in, as)
	var key [1]byte
	read := make(chan error, 1)
	go func() { // ends with the program at the latest: a read from a terminal cannot be cancelled
		_, err := os.Stdin.Read(key[:])
		read <- err
	}()
	select {
	case err := <-read:
		return key[0], err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// askedLine is the longest line that is printed, in runes.
const askedLine = 300

// said returns the flags that name the crawl, for a command to paste.
func (c labelCmd) said() string {
	if c.Topic != "" {
		return "--store " + c.Store + " --topic " + c.Topic
	}
	return "--store " + c.Store
}

func printAsked(w io.Writer, asked []control.Asked, flags string) {
	for _, q := range asked {
		cli.Fprintf(w, "%s\n", q.URL)
		for _, line := range q.Lines() {
			cli.Fprintf(w, "  %s\n", cli.Cut(line, askedLine))
		}
	}
	if len(asked) == 0 {
		io.WriteString(w, "nothing to ask: every page that the crawl remembers is labelled, and no URL waits\n")
		return
	}
	cli.Fprintf(w, "to answer: fossick label URL yes|no %s, or --from FILE for many; at a terminal this command takes one key a page\n", flags)
}
