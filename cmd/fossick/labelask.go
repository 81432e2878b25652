package main

import (
	"context"
	"errors"
	"io"
	"os"

	"golang.org/x/term"

	"fossick/crawler/control"
	"fossick/crawler/crawlplan"
	"fossick/internal/printable"
	"fossick/store"
)

// ask shows the pages whose labels would change the crawl most, and at a terminal takes
// the answers.
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

// examiner asks the running crawl, or makes ready to ask in its place.
func (c labelCmd) examiner(a *app) (control.Examiner, func() error, error) {
	s, err := store.Open(c.Store)
	if errors.Is(err, store.ErrBusy) {
		return control.Running{Dir: c.Store, Topic: c.Topic, Busy: err}, func() error { return nil }, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer a.step("reading the crawl")()
	crawl := crawlplan.Crawl{Resume: true, Store: c.Store}
	if _, err = crawl.Recall(s); err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	plan, err := crawl.Plan(crawlplan.Program{Version: version, Seed: a.seed, Log: a.log, Say: a.say})
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	r, err := control.Rest(s, plan.Crawl.URLs, plan.Crawl.Scorer, c.Topic)
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	return r, s.Close, nil
}

// pressed waits for one key, without the end of a line. Between keys the terminal is as
// its user has it.
func pressed(ctx context.Context) (byte, error) {
	in := int(os.Stdin.Fd())
	as, err := term.MakeRaw(in)
	if err != nil {
		return 0, err
	}
	defer term.Restore(in, as)
	var key [1]byte
	read := make(chan error, 1)
	go func() { // ends with the program at the latest: nothing takes a read of a terminal back
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

// askedLine is how many runes of a line are listed.
const askedLine = 300

// said are the flags by which an answer is given.
func (c labelCmd) said() string {
	if c.Topic != "" {
		return "--store " + c.Store + " --topic " + c.Topic
	}
	return "--store " + c.Store
}

func printAsked(w io.Writer, asked []control.Asked, flags string) {
	for _, q := range asked {
		printable.Fprintf(w, "%s\n", q.URL)
		for _, line := range q.Lines() {
			printable.Fprintf(w, "  %s\n", printable.Cut(line, askedLine))
		}
	}
	if len(asked) == 0 {
		io.WriteString(w, "nothing to ask: every page that the crawl remembers is labelled, and no URL waits\n")
		return
	}
	printable.Fprintf(w, "to answer: fossick label URL yes|no %s, or --from FILE for many; at a terminal this command takes one key a page\n", flags)
}
