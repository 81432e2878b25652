package main

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"iter"
	"path/filepath"
	"slices"

	"github.com/alecthomas/kong"

	"fossick/crawler"
	"fossick/crawler/fetch"
	"fossick/crawler/plan"
	"fossick/eval/monitor"
	"fossick/eval/webstats"
	"fossick/internal/cli"
	"fossick/store"
)

// surveyCmd is focus by parties, with its own order, scope and rests, and a seed list at the end.
type surveyCmd struct {
	plan.Crawl
	SeedsOut   string   `placeholder:"FILE" help:"Where to write the seeds of the next survey: those of this one, and the candidates found [seeds-out.txt in the store]." group:"run" predictor:"files"`
	Candidates string   `enum:"pages,hosts" default:"pages" placeholder:"WHAT" help:"Which links out of a party become seeds: pages, each URL that no party reached; or hosts, only the start page of each host that no party reached, for a short list with depths counted from start pages [${default}]." group:"run"`
	SeedsTable []string `placeholder:"FILE,FILE" help:"Write seeds and candidates as tables too, with the parties' pages, depths and times: .csv or .jsonl." group:"run" expert:"" predictor:"files"`
}

func (surveyCmd) Help() string {
	return `Crawls from each start page, breadth first, all pages that it reaches without leaving its site (its party), many parties at a time. A link to another site becomes a candidate unless some party has reached its page. Start pages and candidates are the seeds of the next survey.

Examples:
  fossick survey --seeds sites.txt --contact you@example.org
  fossick survey --seeds sites.txt --seeds-out sites2.txt --max-depth 2 \
      --tld org --store first --contact you@example.org
  fossick survey --resume --store first
  fossick stats first`
}

func (surveyCmd) MoreHelp() string {
	return `Two rounds of a served corpus, while fossick serve demo --addr 127.0.0.1:8090 runs:
  fossick survey --seed http://attic.test/ --proxy http://127.0.0.1:8090 \
      --delay 0 --store one --seeds-out one.txt
  fossick survey --seeds one.txt --proxy http://127.0.0.1:8090 --delay 0 \
      --store two --seeds-out two.txt --max-pages 20

The seed list of a survey that was killed or has ended:
  fossick survey --resume --store first --seeds-out sites2.txt`
}

// surveyFlags are the flags of focus that mean something else in a survey.
var surveyFlags = map[string]string{
	"topic":              "Also label the pages by this topic; the order does not change [none].",
	"store":              "Folder of the survey's store [fossick-survey].",
	"resume":             "Resume the survey in --store with its settings; if it has ended, write its seed list.",
	"links":              "Where a party stays: on its start page's site, or on its host alone [site].",
	"max-depth":          "Largest distance from a start page, in links [5].",
	"max-pages-per-site": "Most pages of one site [3000].",
	"max-pages":          "Pages to store, over all resumptions [no limit].",
	"delay":              "Rest after each fetch. auto is max(30s, 10 × the fetch); a time replaces the 30s, and scales the 10 with it; 0 for your own servers [auto].",
	"keywords":           "With --topic: words and phrases of it, by comma [its own].",
	"model":              "With --topic: model that labels the pages, a file or a topic's name [its own].",
}

// notOfSurveys are the flags of focus that depend on its topic; a survey does not have them.
var notOfSurveys = []string{"patience", "score", "rho", "threshold", "order", "min-harvest"}

// surveyHelp sets the help of survey's flags, and removes the flags in notOfSurveys.
func surveyHelp(parser *kong.Kong) {
	node := childVerb(parser.Model.Node, "survey")
	node.Flags = slices.DeleteFunc(node.Flags, func(f *kong.Flag) bool { return slices.Contains(notOfSurveys, f.Name) })
	for _, f := range node.Flags {
		if text, own := surveyFlags[f.Name]; own {
			f.Help = text
		}
	}
}

// surveyed is the output of survey.
type surveyed struct {
	*monitor.Result
	Relevant   *uint64 `json:"relevant"` // null without a topic
	Parties    int     `json:"parties"`  // start pages whose party has a page
	Seeds      int     `json:"seeds"`
	Candidates int     `json:"candidates"`
	SeedsOut   string  `json:"seeds_out"`
}

// Run crawls, writes the seed list and prints the result, even of an interrupted survey.
func (c *surveyCmd) Run(a *app) error {
	for _, path := range c.SeedsTable {
		if err := webstats.CheckTable(path); err != nil {
			return err
		}
	}
	crawl := focusCmd{Crawl: c.Crawl}
	crawl.Parties = true
	result, err := crawl.crawl(a.ctx, a)
	if result == nil {
		return err
	}
	found, listErr := c.list(context.WithoutCancel(a.ctx), a, crawl.Store)
	if listErr != nil {
		return errors.Join(err, listErr)
	}
	s := &surveyed{Result: result, Parties: found.Parties(), Seeds: len(found.Seeds), Candidates: found.Candidates, SeedsOut: c.SeedsOut}
	if !result.NoTopic {
		s.Relevant = &result.Relevant
	}
	if emitErr := a.emit(s, s.print); emitErr != nil {
		return emitErr
	}
	return endOf(result, err)
}

// list writes the seeds of the next survey, from the store alone.
func (c *surveyCmd) list(ctx context.Context, a *app, dir string) (found *webstats.SurveyResult, err error) {
	defer a.step("listing seeds")()
	if c.SeedsOut == "" {
		c.SeedsOut = filepath.Join(dir, "seeds-out.txt")
	}
	s, done, err := a.openToRead(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	asked, err := plan.SurveyOf(s)
	if err != nil {
		return nil, err
	}
	if found, err = webstats.FindSeeds(ctx, surveySource{s}, webstats.SurveyOptions{Seeds: asked.Seeds, Wants: asked.Wants, Hosts: c.Candidates == "hosts"}); err != nil {
		return nil, err
	}
	errs := []error{found.WriteList(ctx, c.SeedsOut)}
	for _, path := range c.SeedsTable {
		errs = append(errs, found.WriteTable(ctx, path))
	}
	errs = append(errs, found.Close())
	return found, errors.Join(errs...)
}

func (s *surveyed) print(w io.Writer) {
	s.Result.Print(w)
	cli.Fprintf(w, "%d parties of %d seeds; %d candidates for more\nseeds of the next survey: %s\n", s.Parties, s.Seeds, s.Candidates, s.SeedsOut)
}

type surveySource struct{ s *store.Store }

func (f surveySource) URLs() iter.Seq2[*webstats.SurveyURL, error] {
	return func(yield func(*webstats.SurveyURL, error) bool) {
		for k, err := range f.s.URLs().Known() {
			if err != nil {
				yield(nil, err)
				return
			}
			u := webstats.SurveyURL{ID: uint64(k.ID), URL: k.URL, From: uint64(k.From), Seed: k.Via == store.ViaSeed, Depth: k.Depth}
			if k.Outcome != nil {
				u.State, u.Outside = k.Outcome.State, crawler.OffParty(k.Outcome.Reason)
			}
			if u.Content, err = f.content(k); err != nil {
				yield(nil, err)
				return
			}
			for i := range k.Visits {
				v := &k.Visits[i]
				if i == 0 {
					u.Began = v.Start
				}
				u.Ended = max(u.Ended, v.Start+v.Millis)
				u.Got = u.Got || v.State == string(fetch.StateOK) || v.State == string(fetch.StateNotModified)
			}
			if !yield(&u, nil) {
				return
			}
		}
	}
}

// content returns the hash of a start page's content, "" for a near-duplicate, which has none stored.
func (f surveySource) content(k *store.Known) (string, error) {
	if k.Via != store.ViaSeed || k.Outcome == nil || k.Outcome.Page == 0 || k.Outcome.Resemblance > 0 {
		return "", nil
	}
	p, err := f.s.Page(k.Outcome.Page)
	if errors.Is(err, store.ErrUnknown) {
		return "", nil // lost to damage, and dropped by repair
	}
	return hex.EncodeToString(p.Checksum), err
}

func (f surveySource) Pages() iter.Seq2[*webstats.SurveyPage, error] {
	return func(yield func(*webstats.SurveyPage, error) bool) {
		var p webstats.SurveyPage
		for stored, err := range f.s.Pages() {
			if err != nil {
				yield(nil, err)
				return
			}
			p.Links = p.Links[:0]
			for _, id := range stored.Links {
				p.Links = append(p.Links, uint64(id))
			}
			if !yield(&p, nil) {
				return
			}
		}
	}
}

func (f surveySource) Name(id uint64) (string, error) {
	b, err := f.s.URLs().Discovery(store.ID(id))
	if errors.Is(err, store.ErrUnknown) {
		return "", nil // lost to damage, and dropped by repair
	}
	return b.URL, err
}
