package main

import (
	"io"

	"fossick/crawler/plan"
	"fossick/eval/lab"
	"fossick/internal/fileio"
)

type labCmd struct {
	lab.Options
	HTML string `name:"html" placeholder:"FILE" help:"Write a report as one self-contained page."`
}

func (labCmd) Help() string {
	return `Compares crawl policies on a stored web. It runs virtual crawls from several random start sets with the code of focus, thousands of pages a second. Gives harvest, recall and the areas under their curves with 95 % intervals over the start sets, and paired tests between the policies. The same --rand gives the same figures.

Example:
  fossick lab demo --topic banking --policy bfs,paper,learned \
      --starts 3 --train-pages 300 --pages 60 --html lab.html`
}

func (labCmd) MoreHelp() string {
	return `Policies: ` + plan.Help() + `.`
}

func (c *labCmd) Run(a *app) error {
	p := c.plan(a)
	if err := p.Check(); err != nil {
		return err
	}
	p.Work = a.task("reading "+c.Corpus, "crawls")
	defer p.Work.End()
	setup, result, err := p.Run(a.ctx)
	if err != nil {
		return err
	}
	if c.HTML != "" {
		result.HTML = c.HTML
		if err := fileio.WritePage(c.HTML, func(w io.Writer) error { return setup.WriteReport(w, result, version) }); err != nil {
			return err
		}
	}
	return a.emit(result, result.Print)
}

func (c *labCmd) plan(a *app) *lab.Plan {
	return &lab.Plan{Options: c.Options, Seed: a.seed, Random: a.random, Open: a.openSet, Say: a.say, Log: a.log}
}
