package main

import (
	"io"
	"path/filepath"

	"fossick/datasets"
	"fossick/export"
	"fossick/internal/cli"
)

type importCmd struct {
	Source  string `arg:"" placeholder:"SOURCE" help:"A web archive (WARC, WACZ), saved pages, an exported table, a corpus." predictor:"files"`
	Store   string `required:"" type:"path" placeholder:"DIR" help:"Folder of the new store." predictor:"dirs"`
	Partial bool   `help:"Skip damaged parts of the source." expert:""`
}

func (importCmd) Help() string {
	return `Makes a store from pages that other programs have collected, so that eval, why, search, refine and export work on them. Each page keeps its URL, fetch time and label. Links between the pages are kept; other links lead nowhere. Repeated content counts as a duplicate, as in a crawl. To continue an interrupted import, run the command again.

Examples:
  fossick import demo --store demo-pages
  fossick import fossick-banking --store copy`
}

type importResult struct {
	Pages      uint64 `json:"pages"`
	Duplicates uint64 `json:"duplicates"`
	Left       int    `json:"left"`    // rows without a URL, or with that of an earlier row
	Refused    uint64 `json:"refused"` // rows that are no pages, or ask not to be kept
	Store      string `json:"store"`
}

func (c *importCmd) Run(a *app) error {
	set, err := a.openSet(c.Source, datasets.Options{Partial: c.Partial})
	if err != nil {
		return err
	}
	source, err := filepath.Abs(c.Source)
	if err != nil {
		return err
	}
	rows := set.Examples()
	if c.Partial {
		rows = datasets.Readable(rows)
	}
	task := a.task("importing", "pages")
	defer task.End()
	had := uint64(0)
	opt := export.ImportOptions{Source: source, Version: version, Log: a.log, Progress: func(pages uint64) {
		task.Add(int(pages - had))
		had = pages
	}}
	did, err := export.Import(a.ctx, rows, c.Store, opt)
	if err != nil {
		return err
	}
	task.End()
	r := importResult{Pages: did.Pages, Duplicates: did.Duplicates, Left: did.Left, Refused: did.Refused, Store: c.Store}
	return a.emit(r, r.print)
}

func (r importResult) print(w io.Writer) {
	cli.Fprintf(w, "%d pages in %s\n", r.Pages, r.Store)
	for _, n := range []struct {
		n   uint64
		why string
	}{
		{r.Duplicates, "rows repeat the content of an earlier page"},
		{uint64(r.Left), "rows have no URL, or that of an earlier row"},
		{r.Refused, "rows are not pages, or ask not to be kept"},
	} {
		if n.n > 0 {
			cli.Fprintf(w, "%d %s\n", n.n, n.why)
		}
	}
}
