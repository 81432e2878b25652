package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"

	"fossick/classify"
	"fossick/features"
	"fossick/fetch"
	"fossick/internal/printable"
	"fossick/internal/reading"
	"fossick/page"
	"fossick/report"
	"fossick/train"
)

type classifyCmd struct {
	Model    []string `required:"" sep:"none" placeholder:"M" help:"Model: a file, or a topic's name. A second one is compared with the first on the labelled rows (McNemar's test)." complete:"models"`
	What     []string `arg:"" name:"what" help:"HTML or text files, URLs, or labelled sets." complete:"sets"`
	Level    int      `placeholder:"N" help:"Of a set: which of a row's labels is its class [0]."`
	Where    []string `sep:"none" placeholder:"FIELD=VALUE" help:"Of a set: only rows with this value, as split=test; may be repeated."`
	Errors   int      `default:"10" placeholder:"N" help:"Of a labelled set: list so many of the mistakes, the surest first [10]."`
	Contact  string   `type:"contact" placeholder:"MAIL|URL" help:"Mail or URL for the user agent; needed for URLs."`
	AllowNet []string `placeholder:"CIDR" help:"Private networks that URLs may lead into."`
}

func (classifyCmd) Help() string {
	return `Labels pages, each with its probability and the reason: the rule that fired, or the words that weighed most. Of a labelled set it also says how many labels are right, and lists the surest mistakes. With a second model it says which of the two is better on the set, and how often chance alone makes such a difference; use a set that neither was trained on.

Examples:
  fossick classify --model science page.html
  fossick classify --model old.model --model new.model demo \
      --where split=test`
}

type classifyResult struct {
	Results   []labelled                `json:"results"`
	Accuracy  *float64                  `json:"accuracy"` // null without labelled rows
	CI        *[2]float64               `json:"accuracy_ci"`
	MacroF1   *float64                  `json:"macro_f1"`
	PerClass  map[string]classResult    `json:"per_class"`
	Confusion map[string]map[string]int `json:"confusion"`
	Worst     []mistake                 `json:"worst"`      // null without labelled rows
	AccuracyB *float64                  `json:"accuracy_b"` // null without a second model
	McNemar   *mcnemarResult            `json:"mcnemar"`
	Trained   *float64                  `json:"trained_on"` // share of the labelled rows that the model was trained on; null when it cannot say
	TrainedB  *float64                  `json:"trained_on_b"`
}

type labelled struct {
	Name  string  `json:"name"`
	Label string  `json:"label"`
	Score float64 `json:"score"`
	Rule  string  `json:"rule"`
}

// verdicts is a run of classify: what it has said so far.
type verdicts struct {
	classifyCmd
	app              *app
	classifier       *classify.Classifier
	result           classifyResult
	truth, predicted []int // classes, by labelled row
	mistakes         []mistake
	rival            *rival  // nil without a second model
	known            lessons // labelled pages that the model was trained on
}

func (c classifyCmd) Run(a *app) error {
	if len(c.Model) > 2 {
		return usagef("--model given %d times: two models can be compared, not more", len(c.Model))
	}
	if c.Errors < 0 {
		return usagef("--errors %d: want 0 or more", c.Errors)
	}
	_, classifier, err := loadModel(c.Model[0])
	if err != nil {
		return err
	}
	l := &verdicts{classifyCmd: c, app: a, classifier: classifier, result: classifyResult{Results: []labelled{}}}
	l.known.card = &classifier.Model().Card
	if len(c.Model) == 2 {
		if err := l.readRival(c.Model[1]); err != nil {
			return err
		}
	}
	for _, what := range c.What {
		if err := l.add(what); err != nil {
			return err
		}
	}
	if len(l.truth) > 0 {
		l.measure()
		l.result.Trained = l.known.share()
	}
	if l.rival != nil {
		if err := l.compare(); err != nil {
			return err
		}
		l.result.TrainedB = l.rival.known.share()
	}
	return a.emit(l.result, l.print)
}

// measure sums up the labelled rows.
func (l *verdicts) measure() {
	classes := l.classifier.Model().Classes
	m := train.Measure(len(classes), l.truth, l.predicted)
	l.result.Accuracy, l.result.CI, l.result.MacroF1 = &m.Accuracy, &m.CI, &m.MacroF1
	l.result.PerClass, l.result.Confusion = classResults(classes, &m), confusion(classes, &m)
	l.result.Worst = worst(l.mistakes, l.Errors)
}

// add labels what an argument stands for.
func (l *verdicts) add(what string) error {
	if strings.HasPrefix(what, "http://") || strings.HasPrefix(what, "https://") {
		return l.url(what)
	}
	info, err := os.Stat(what)
	if full, assumed := withScheme(what); errors.Is(err, fs.ErrNotExist) && assumed && strings.HasPrefix(strings.ToLower(what), "www.") {
		l.app.say("%s is taken as %s", what, full)
		return l.url(full)
	}
	if err == nil && info.Mode().IsRegular() && !strings.Contains(what, ".jsonl") {
		return l.file(what)
	}
	return l.set(what)
}

func (l *verdicts) label(name string, d features.Doc) labelled {
	r, why := l.classifier.ClassifyAndExplain(d)
	said := labelled{name, r.Label, r.Score, why}
	l.result.Results = append(l.result.Results, said)
	return said
}

// check compares what was said of a row with its true class.
func (l *verdicts) check(said labelled, d features.Doc, truth string) {
	m := l.classifier.Model()
	l.truth, l.predicted = append(l.truth, m.Class(truth)), append(l.predicted, m.Class(said.Label))
	l.known.look(d)
	if said.Label != truth {
		l.mistakes = append(l.mistakes, mistake{said.Name, truth, said.Label, said.Score, said.Rule})
	}
	if l.rival != nil {
		l.rival.judge(d, truth)
	}
}

// maxPageFile bounds a file that is classified as a page, in bytes; a crawl takes less.
const maxPageFile = 128 << 20

func (l *verdicts) file(path string) error {
	body, err := reading.All(path, maxPageFile)
	if err != nil {
		return fmt.Errorf("page %w", err)
	}
	kind := "text/html"
	if strings.HasSuffix(path, ".txt") {
		kind = "text/plain"
	}
	p, err := page.Parse(body, page.ParseOptions{ContentType: kind})
	if err != nil {
		return fmt.Errorf("file %s: %w", path, err)
	}
	l.label(path, features.Doc(p.Fields()))
	return nil
}

var errNoPage = errors.New("no page")

// url fetches one page, as a crawl would: by its robots.txt.
func (l *verdicts) url(raw string) error {
	u, err := url.Parse(raw)
	if err != nil {
		return usagef("URL %s: %w", raw, err)
	}
	opt := fetch.Options{UserAgent: fetch.UserAgent("fossick", version, l.Contact), Logger: l.app.log}
	for _, text := range l.AllowNet {
		net, err := netip.ParsePrefix(text)
		if err != nil {
			return usagef("--allow-net %s: give nets as 127.0.0.0/8 or ::1/128", text)
		}
		opt.AllowNet = append(opt.AllowNet, net)
	}
	if l.Contact == "" && len(l.AllowNet) == 0 {
		return usagef("URL %s: give --contact, a mail address or URL, so that its owner can see who asks", u.Host)
	}
	f, err := fetch.New(opt)
	if err != nil {
		return usageError{err}
	}
	defer f.Close()
	if err := l.allowed(f, u); err != nil {
		return err
	}
	resp := f.Fetch(l.app.ctx, fetch.Request{URL: raw})
	if resp.State != fetch.StateOK {
		return fmt.Errorf("URL %s: state %s (%w); only a page that answers with success can be labelled", raw, resp.State, cmp.Or(resp.Err, errNoPage))
	}
	p, err := page.Parse(resp.Body, page.ParseOptions{URL: raw, ContentType: resp.ContentType})
	if err != nil {
		return fmt.Errorf("URL %s: %w", raw, err)
	}
	l.label(raw, features.Doc(p.Fields()))
	return nil
}

// allowed asks robots.txt of u's host, as a crawl would.
func (l *verdicts) allowed(f *fetch.Fetcher, u *url.URL) error {
	target := u.Scheme + "://" + u.Host + "/robots.txt"
	for range fetch.MaxRobotsRedirects + 1 {
		resp := f.Fetch(l.app.ctx, fetch.RobotsRequest(target))
		rules, final := fetch.RobotsFrom(resp)
		switch {
		case final && rules.Allowed("fossick", u.RequestURI()):
			return nil
		case final:
			return fmt.Errorf("URL %s: robots.txt of %s does not allow it %s", u, u.Host, rules.Why())
		case resp.State != fetch.StateRedirect:
			return fmt.Errorf("URL %s: robots.txt: %s (%w)", u, resp.State, cmp.Or(resp.Err, errNoPage))
		}
		target = resp.Location
	}
	return nil // a redirect that leads nowhere is no robots.txt (RFC 9309 section 2.3.1.2)
}

// set labels the rows of a set, and remembers what their labels say.
func (l *verdicts) set(path string) error {
	rows, err := openSets(l.app, []string{path}, l.Where, l.Level, nil)
	if err != nil {
		return err
	}
	m := l.classifier.Model()
	// A model of one topic against the rest knows the rest by this name.
	opt := train.Options{Labels: m.Classes}
	if len(m.Classes) == 2 && slices.Contains(m.Classes, train.Other) {
		opt = train.Options{Topic: m.Classes[1-m.Class(train.Other)]}
	}
	work := l.app.task("labelling "+path, "pages")
	defer work.End()
	for e, err := range counted(rows, work) {
		if l.app.ctx.Err() != nil {
			return errInterrupted
		}
		if err != nil {
			if isRow(err) {
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
		said := l.label(e.URL, d)
		if truth := opt.Class(e); m.Class(truth) >= 0 {
			l.check(said, d, truth)
		}
	}
	return nil
}

func (l *verdicts) print(w io.Writer) {
	r := &l.result
	for _, p := range r.Results {
		printable.Fprintf(w, "%s\t%s\t%.3f\t%s\n", p.Name, p.Label, p.Score, p.Rule)
	}
	if r.Accuracy != nil {
		printable.Fprintf(w, "\nAccuracy %.1f %% (95 %% interval %.1f to %.1f), macro F1 %.3f on %s labelled pages\n\n",
			100**r.Accuracy, 100*r.CI[0], 100*r.CI[1], *r.MacroF1, report.Number(len(l.truth)))
		classes := l.classifier.Model().Classes
		printClasses(w, classes, r.PerClass, r.Confusion)
		printMatrix(w, classes, r.Confusion)
		printWorst(w, r.Worst, len(l.mistakes))
	}
	if text := l.known.warning(); text != "" {
		printable.Fprintf(w, "\n%s: %s\n", l.Model[0], text)
	}
	if r.McNemar != nil {
		if text := l.rival.known.warning(); text != "" {
			printable.Fprintf(w, "%s: %s\n", l.Model[1], text)
		}
		r.McNemar.print(w, l.Model, *r.Accuracy, *r.AccuracyB)
	}
}
