package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"fossick/control"
	"fossick/crawlplan"
	"fossick/internal/lists"
	"fossick/internal/printable"
	"fossick/page"
	"fossick/store"
)

type labelCmd struct {
	URL   string `arg:"" optional:"" name:"url" help:"The URL to label: a page of the crawl, or one that waits."`
	Label string `arg:"" optional:"" name:"yes|no" help:"Whether it is on topic." complete:"yes,no"`
	Store string `required:"" placeholder:"DIR" help:"Folder of the crawl's store."`
	From  string `placeholder:"FILE" help:"Instead of one URL, many at once: url TAB yes|no a line, - for standard input."`
	Topic string `placeholder:"NAME" help:"Which topic the label is of, where several share the crawl."`
	Ask   int    `placeholder:"N" help:"Show the N pages, fetched or waiting, whose labels would change the crawl most; at a terminal, a key labels each."`
}

func (labelCmd) Help() string {
	return `Says of a page whether it is on topic. The crawl takes it for the truth: the page counts as on topic or off, whatever the model says, for refine and eval as well; and a crawl with --score learned corrects the model by the words of the pages that were labelled, so that it judges other pages and links like them anew. A URL that waits can be labelled too, by the text of the link to it: it is fetched next or last, and links like it are judged anew. A running crawl follows within seconds; another takes the labels in when it is resumed. The last label of a URL counts. Of a crawl that several topics share, --topic says which one the label is of: a URL has one a topic.

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
		printable.Fprintf(w, "the crawl follows; applied in %.2f s\n", r.Applied)
	case r.Running:
		io.WriteString(w, "kept; this crawl's scores do not learn from labels, those of --score learned do\n")
	default:
		io.WriteString(w, "kept; no crawl is running: with --score learned, a resumed one learns from it\n")
	}
}
