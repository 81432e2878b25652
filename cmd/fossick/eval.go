package main

import (
	"fmt"
	"io"

	"fossick/eval"
	"fossick/internal/cli"
	"fossick/internal/fileio"
	"fossick/internal/report"
)

type evalCmd struct {
	Stores []string `arg:"" name:"store" placeholder:"STORE" help:"Stores of crawls; the figures of the first stand at the top." predictor:"dirs"`
	Truth  string   `placeholder:"FILE" xor:"source" help:"Labels by URL: url TAB label TAB label|label, also .gz and .zst."`
	Target string   `placeholder:"LABEL" help:"Label of the truth or of the judge that is the topic [the first crawl's topic]."`
	Judge  string   `placeholder:"MODEL" xor:"source" help:"Model that judges the pages, a file or a topic's name; choose one other than the crawl's own." predictor:"models"`
	Curve  int      `placeholder:"STEP" help:"Pages between two points of a curve [about 50 points]."`
	Caps   []int    `name:"max-pages-per-host" placeholder:"N,N" help:"Also give the harvest when only the first N pages of each host count [1,10,100,1000, where that leaves out any]."`
	HTML   string   `name:"html" placeholder:"FILE" help:"Write a report as one self-contained page."`
}

func (evalCmd) Help() string {
	return `Measures how good a crawl is: how much of it is on topic, how fast it found those pages, how the topic drifted, how many hosts it spans, and how clean the refined collection is. With --truth it also measures how complete the crawl is. With two stores or more it measures their overlap, and estimates how complete they are from links and queues. Without --truth and --judge it trusts the crawl's own labels.

Examples:
  fossick eval fossick-banking --html report.html
  fossick eval fossick-banking old-crawl --truth labels.tsv --target banking`
}

func (c evalCmd) Run(a *app) error {
	if c.Curve < 0 {
		return usagef("--curve %d: want a number of pages", c.Curve)
	}
	crawls, err := eval.ReadCrawls(a.ctx, eval.Sources{
		Stores: c.Stores, Truth: c.Truth, Judge: c.Judge, Target: c.Target, Caps: c.Caps, Open: a.openToRead, Step: a.step,
	})
	if err != nil {
		return err
	}
	defer a.step("measuring")()
	result := crawls.Measure(c.Curve)
	if c.HTML != "" {
		err := fileio.WritePage(c.HTML, func(w io.Writer) error {
			return crawls.WriteReport(w, result, report.Fact{Name: "evaluated by", Value: "fossick " + version}, report.Fact{Name: "random seed", Value: fmt.Sprint(a.seed)})
		})
		if err != nil {
			return err
		}
	}
	return a.emit(result, func(w io.Writer) { printFigures(w, result, c.HTML) })
}

func printFigures(w io.Writer, r eval.Result, html string) {
	for _, s := range eval.Sentences(r) {
		cli.Fprintln(w, s)
	}
	if html != "" {
		cli.Fprintf(w, "\nreport: %s\n", html)
	}
}
