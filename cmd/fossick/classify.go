package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"fossick/crawler/fetch"
	"fossick/crawler/plan"
	"fossick/datasets"
	"fossick/internal/cli"
	"fossick/internal/document"
	"fossick/internal/fileio"
	"fossick/internal/page"
	"fossick/models/features"
	"fossick/train"

	"fossick/train/topics"
)

type classifyCmd struct {
	Model    []string `required:"" sep:"none" placeholder:"M" help:"Model: a file, or a topic's name. A second one is compared with the first on the labelled rows (McNemar's test)." predictor:"models"`
	What     []string `arg:"" name:"what" help:"HTML or text files, URLs, or labelled sets." predictor:"sets"`
	Level    int      `placeholder:"N" help:"For a set: which of a row's labels is its class [0]."`
	Where    []string `sep:"none" placeholder:"FIELD=VALUE" help:"For a set: only rows with this value, as split=test; may be repeated."`
	Errors   int      `default:"10" placeholder:"N" help:"For a labelled set: number of mistakes to list, the most confident first [10]."`
	Contact  string   `type:"contact" placeholder:"MAIL|URL" help:"Mail or URL for the user agent; needed for URLs."`
	AllowNet []string `placeholder:"CIDR" help:"Private networks in which URLs may lie."`
}

func (classifyCmd) Help() string {
	return `Labels pages and gives the probability and the reason of each label: the rule that fired, or the words with the most weight. For a labelled set it also shows how many labels are right, and lists the most confident mistakes. With a second model it shows which model is better on the set, and how often chance alone would make such a difference; use a set that neither model was trained on.

Examples:
  fossick classify --model science page.html
  fossick classify --model old.model --model new.model demo \
      --where split=test`
}

type classifyRun struct {
	classifyCmd
	app      *app
	verdicts *train.Verdicts
}

func (c classifyCmd) Run(a *app) error {
	if len(c.Model) > 2 {
		return usagef("--model is given %d times; give at most two models", len(c.Model))
	}
	if c.Errors < 0 {
		return usagef("--errors %d: want 0 or more", c.Errors)
	}
	classifier, err := topics.Classifier(c.Model[0])
	if err != nil {
		return err
	}
	l := &classifyRun{classifyCmd: c, app: a, verdicts: train.NewVerdicts(c.Model[0], classifier)}
	if len(c.Model) == 2 {
		second, err := topics.Classifier(c.Model[1])
		if err != nil {
			return err
		}
		if err := l.verdicts.Against(c.Model[1], second); err != nil {
			return err
		}
	}
	for _, what := range c.What {
		if err := l.add(what); err != nil {
			return err
		}
	}
	r, err := l.verdicts.Result(c.Errors)
	if err != nil {
		return err
	}
	return a.emit(r, func(w io.Writer) { l.verdicts.Print(w, r) })
}

// add labels what an argument names: a URL, a page's file or a set.
func (l *classifyRun) add(what string) error {
	if strings.HasPrefix(what, "http://") || strings.HasPrefix(what, "https://") {
		return l.url(what)
	}
	info, err := os.Stat(what)
	if full, assumed := page.WithScheme(what); errors.Is(err, fs.ErrNotExist) && assumed && strings.HasPrefix(strings.ToLower(what), "www.") {
		l.app.say("%s is taken as %s", what, full)
		return l.url(full)
	}
	if err == nil && info.Mode().IsRegular() && !datasets.IsFile(what) {
		return l.file(what)
	}
	return l.set(what)
}

// maxPageFile is the largest page file to classify, in bytes; a crawl's limit is lower.
const maxPageFile = 128 << 20

func (l *classifyRun) file(path string) error {
	body, err := fileio.All(path, maxPageFile)
	if err != nil {
		return fmt.Errorf("page %w", err)
	}
	kind := document.Sniff(body)
	switch {
	case kind != "":
	case strings.HasSuffix(path, ".md"):
		kind = "text/markdown"
	case strings.HasSuffix(path, ".txt"):
		kind = "text/plain"
	default:
		kind = "text/html"
	}
	if !strings.HasPrefix(kind, "application/") {
		if err := isText(body); err != nil {
			return fmt.Errorf("file %s: %w", path, err)
		}
	}
	p, err := page.Parse(body, page.ParseOptions{ContentType: kind})
	if err != nil {
		return fmt.Errorf("file %s: %w", path, err)
	}
	l.verdicts.Label(path, features.Doc(p.Fields()))
	return nil
}

// isText refuses content other than text, by its first bytes as browsers do: the label of a picture
// would be random.
func isText(body []byte) error {
	if kind := page.SniffMedia(body); !strings.HasPrefix(kind, "text/") && kind != "application/xhtml+xml" {
		return fmt.Errorf("not a page: the content is %s; give HTML, text, a PDF or an office document", kind)
	}
	return nil
}

func (l *classifyRun) url(raw string) error {
	p, err := l.app.fetchPage(raw, l.Contact, l.AllowNet, "")
	if err != nil {
		return err
	}
	l.verdicts.Label(raw, features.Doc(p.Fields()))
	return nil
}

// fetchPage fetches one page and obeys robots.txt, as a crawl would.
func (a *app) fetchPage(raw, contact string, allowNet []string, proxy string) (*page.Page, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, usagef("URL %s: %w", raw, err)
	}
	opt := fetch.Options{UserAgent: fetch.UserAgent("fossick", version, contact), Logger: a.log}
	if opt.AllowNet, err = plan.Nets(allowNet); err != nil {
		return nil, err
	}
	if proxy != "" {
		if opt.Proxy, err = plan.ParseProxy(proxy); err != nil {
			return nil, err
		}
	}
	if contact == "" && len(allowNet) == 0 && proxy == "" {
		return nil, usagef("URL %s: give --contact, a mail address or URL, so that the site's owner can reach you", u.Host)
	}
	f, err := fetch.New(opt)
	if err != nil {
		return nil, cli.Usage(err)
	}
	defer f.Close()
	if err := f.Allowed(a.ctx, u, "fossick"); err != nil {
		return nil, err
	}
	resp := f.Fetch(a.ctx, fetch.Request{URL: raw})
	if resp.State != fetch.StateOK {
		return nil, fmt.Errorf("URL %s: state %s (%w); give a URL that answers with success", raw, resp.State, cmp.Or(resp.Err, fetch.ErrNoPage))
	}
	p, err := page.Parse(resp.Body, page.ParseOptions{URL: raw, ContentType: resp.ContentType})
	if err != nil {
		return nil, fmt.Errorf("URL %s: %w", raw, err)
	}
	return p, nil
}

func (l *classifyRun) set(path string) error {
	rows, err := l.app.stream([]string{path}, l.Where, l.Level)
	if err != nil {
		return err
	}
	work := l.app.task("labelling "+path, "pages")
	defer work.End()
	for e, err := range datasets.Counted(rows, work.Add) {
		if l.app.ctx.Err() != nil {
			return errInterrupted
		}
		if err != nil {
			if datasets.IsRow(err) {
				l.app.log.Warn("row left out", "err", err)
				continue
			}
			return err
		}
		d, err := train.Doc(e)
		if err != nil {
			l.app.log.Warn("page left out", "url", e.URL, "err", err)
			continue
		}
		l.verdicts.Row(e, d)
	}
	return nil
}
