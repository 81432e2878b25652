package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"fossick/crawler/control"
	"fossick/crawler/crawlplan"
	"fossick/datasets/lists"
	"fossick/internal/page"
	"fossick/internal/printable"
	"fossick/store"
)

type labelCmd struct {
	URL   string `arg:"" optional:"" name:"url" help:"The URL to label: a page of the crawl, or one that waits."`
	Label string `arg:"" optional:"" name:"yes|no" help:"Whether it is on topic." predictor:"yes,no"`
	Store string `required:"" placeholder:"DIR" help:"Folder of the crawl's store."`
	From  string `placeholder:"FILE" help:"Instead of one URL, many at once: url TAB yes|no a line, - for standard input."`
	Topic string `placeholder:"NAME" help:"Topic of the label, if several topics share the crawl."`
	Ask   int    `placeholder:"N" help:"Show the N pages, fetched or waiting, whose labels would change the crawl most; at a terminal, a key labels each."`
}

func (labelCmd) Help() string {
	return `Labels a page as on topic or off topic. The crawl trusts the label over its model, and so do refine and eval. A crawl with --score learned also corrects its model by the words of the labelled pages, and judges similar pages and links again. A waiting URL can be labelled too: it is fetched next or last, and the text of the link to it makes the crawl judge similar links again. A running crawl applies a label within seconds; any other crawl applies it when it is resumed. The last label of a URL counts. Where several topics share a crawl, --topic names the topic of the label; a URL has one label for each topic.

Examples:
  fossick label http://example.org/loans no --store fossick-banking
  fossick label --ask 10 --store fossick-banking
  fossick label --from marks.tsv --store fossick-banking`
}

// labelResult is what the verb prints; url and label are those of a single one.
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
		if urls, err = crawlplan.URLs(s); err == nil {
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

// labels returns what the command line says of which URLs.
func (c labelCmd) labels() ([]control.Label, error) {
	switch {
	case c.From == "" && (c.URL == "" || c.Label == ""):
		return nil, usagef("give a URL and yes or no, or --from FILE, or --ask N")
	case c.URL != "" && c.Label != "yes" && c.Label != "no":
		return nil, usagef("%s: label %q; want yes or no", c.URL, c.Label)
	case c.From == "":
		return []control.Label{{URL: c.URL, Label: c.Label}}, nil
	case c.URL != "":
		return nil, usagef("give a URL or --from FILE, not both")
	}
	file := io.ReadCloser(os.Stdin)
	if c.From != "-" {
		var err error
		if file, err = lists.Open(c.From); err != nil {
			return nil, fmt.Errorf("--from: %w", err)
		}
		defer file.Close()
	}
	return control.ReadLabels(file, c.From)
}

func (r labelResult) print(w io.Writer) {
	for _, l := range r.Labels {
		printable.Fprintf(w, "%s: %s\n", l.URL, l.Label)
	}
	switch {
	case r.Learned:
		printable.Fprintf(w, "the running crawl applied it in %.2f s\n", r.Applied)
	case r.Running:
		io.WriteString(w, "kept; only crawls with --score learned learn from labels, and this one has another --score\n")
	default:
		io.WriteString(w, "kept; no crawl is running. A resumed crawl with --score learned will learn from it\n")
	}
}
