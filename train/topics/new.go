package topics

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"fossick/datasets"
	"fossick/internal/cli"
	"fossick/internal/page"
	"fossick/models"
	"fossick/relevance"
	"fossick/relevance/propose"
	"fossick/train"
)

// Wanted is a topic to make. The tags are those of the command line.
type Wanted struct {
	Name         string   `arg:"" help:"Name of the topic; focus --topic NAME finds it."`
	Keywords     []string `placeholder:"WORDS" help:"Words and phrases that pages on the topic use, by comma [chosen from the examples]."`
	KeywordsFrom string   `enum:",seeds,model" default:"" placeholder:"seeds|model" help:"How to choose the keywords. seeds: fetch the start pages and take the words that tell them from other pages. model: take the 20 words, nouns if they are English, that count most in the model of --examples, as the built-in topics do [model, with --examples]."`
	Seed         []string `sep:"none" placeholder:"URL" help:"Start page; may be repeated [none: fossick topic propose finds some]."`
	Seeds        string   `placeholder:"FILE" help:"File of start pages, one a line, # comments."`
	Examples     []string `sep:"none" placeholder:"SET" help:"Pages on the topic, to train a model on: a folder of .html or .txt files, or any set; if a set has the label NAME, only those rows. Labels yes and no, pos and neg, relevant and irrelevant, 1 and 0 tell pages on topic from pages off it. May be repeated." predictor:"sets"`
	Negatives    []string `sep:"none" placeholder:"SET" help:"Pages off the topic, for the same model; rows with the label NAME are skipped. May be repeated [found among --unlabelled]." predictor:"sets"`
	Unlabelled   []string `sep:"none" placeholder:"SET" help:"Pages of any kind, on topic and off: a corpus, a store. Those surely off topic are found among them. May be repeated [demo]." predictor:"sets"`
	Contact      string   `type:"contact" placeholder:"MAIL|URL" help:"Mail or URL for the user agent, with --keywords-from seeds."`
	AllowNet     []string `placeholder:"CIDRS" help:"Private networks in which start pages may lie."`
	Proxy        string   `placeholder:"URL" help:"Fetch start pages through a proxy."`
	Out          string   `placeholder:"DIR" help:"Folder to make [topics/NAME]."`
}

// Values of Wanted.KeywordsFrom.
const fromSeeds, fromModel = "seeds", "model"

// madeTopic is a topic that was made. What is learnt from examples is null without any.
type madeTopic struct {
	Topic      string              `json:"topic"` // its folder
	Name       string              `json:"name"`
	Keywords   []string            `json:"keywords"`
	KeywordsBy *string             `json:"keywords_by"` // how they were chosen; null if they were given
	Seeds      []string            `json:"seeds"`
	Model      *string             `json:"model"` // its file
	Examples   *int                `json:"examples"`
	Negatives  *int                `json:"negatives"`      // given, or found among unlabelled pages
	From       []string            `json:"negatives_from"` // null if they were found among unlabelled pages
	Unlabelled *train.PU           `json:"unlabelled"`     // null with negatives
	Accuracy   *float64            `json:"accuracy"`       // by cross-validation
	AccuracyCI *[2]float64         `json:"accuracy_ci"`    // null below 5 different pages
	spread     string              // the interval in words
	OnTopic    *train.ClassQuality `json:"on_topic"`
	Threshold  *float64            `json:"threshold"`
}

// Make makes the topic's folder and, with examples, trains a model as l says, for K too if none is given.
func (w *Wanted) Make(ctx context.Context, l Learning) (*madeTopic, error) {
	if err := w.check(); err != nil {
		return nil, err
	}
	if w.Out == "" {
		w.Out = ownFolders(w.Name)
	}
	if isTopic(w.Out) {
		return nil, fmt.Errorf("%s already exists; remove it, or give the topic another name or --out", filepath.Join(w.Out, "topic.toml"))
	}
	starts, err := w.startPages(l.Say)
	if err != nil {
		return nil, err
	}
	t := &models.Topic{Name: w.Name, Title: w.Name, Keywords: w.Keywords, Seeds: starts}
	made := &madeTopic{Topic: w.Out, Name: w.Name, Seeds: starts}
	l.Name, l.Examples, l.Negatives, l.Unlabelled = w.Name, w.Examples, w.Negatives, w.Unlabelled
	if w.KeywordsFrom == fromSeeds {
		var by string
		if t.Keywords, by, err = l.seedKeywords(ctx, starts); err != nil {
			return nil, err
		}
		made.KeywordsBy = &by
	}
	if len(w.Examples) > 0 {
		from, err := l.learn(ctx)
		if err != nil {
			return nil, err
		}
		if t.Model = from.Model; len(t.Keywords) == 0 {
			t.Keywords, made.KeywordsBy = t.Model.Keywords[w.Name], &from.Report.KeywordsBy
		}
		made.From = from.Negatives
		made.tell(from)
	}
	k, err := relevance.NewKeywords(t.Keywords)
	if err != nil {
		return nil, cli.Usagef("topic %s: %w", w.Name, err)
	}
	t.Keywords = k.Words()
	made.Keywords = t.Keywords
	return made, models.WriteTopic(w.Out, t)
}

// check rejects what cannot become a topic, before anything is read.
func (w *Wanted) check() error {
	switch {
	case w.Name == "" || FileName(w.Name) != w.Name:
		return cli.Usagef("topic %q: its name becomes a folder's; use letters and digits, without spaces or slashes", w.Name)
	case w.Name == train.Other:
		return cli.Usagef("topic %q: models use this name for pages off the topic; choose another name", w.Name)
	case w.KeywordsFrom != "" && len(w.Keywords) > 0:
		return cli.Usagef("topic %s: give --keywords or --keywords-from, not both", w.Name)
	case w.KeywordsFrom == fromModel && len(w.Examples) == 0:
		return cli.Usagef("topic %s: --keywords-from model takes words from a model; give --examples to train one on", w.Name)
	case w.KeywordsFrom == fromSeeds && len(w.Seed) == 0 && w.Seeds == "":
		return cli.Usagef("topic %s: --keywords-from seeds reads the start pages; give some with --seed or --seeds", w.Name)
	case w.KeywordsFrom != fromSeeds && len(w.Keywords) == 0 && len(w.Examples) == 0:
		return cli.Usagef("topic %s: nothing describes it; give --keywords a,b,c, --keywords-from seeds, or --examples with a folder of pages", w.Name)
	case len(w.Negatives) > 0 && len(w.Examples) == 0 && w.KeywordsFrom != fromSeeds:
		return cli.Usagef("topic %s: --negatives help to train a model, which also needs --examples", w.Name)
	case len(w.Unlabelled) > 0 && len(w.Examples) == 0 && w.KeywordsFrom != fromSeeds:
		return cli.Usagef("topic %s: --unlabelled helps to train a model, which also needs --examples", w.Name)
	case len(w.Unlabelled) > 0 && len(w.Negatives) > 0:
		return cli.Usagef("topic %s: give --negatives, pages known to be off topic, or --unlabelled pages, not both", w.Name)
	}
	return nil
}

// startPages returns the given start pages in normal form; there may be none.
func (w *Wanted) startPages(say func(string, ...any)) ([]string, error) {
	if len(w.Seed) == 0 && w.Seeds == "" {
		return []string{}, nil
	}
	list, err := propose.ReadStartPages(page.NewNormalizer(page.DefaultDrop()), w.Seed, w.Seeds, "")
	if err != nil {
		return nil, err
	}
	if assumed := list.Assumed(); assumed != "" {
		say("%s", assumed)
	}
	return list.URLs, nil
}

func (made *madeTopic) tell(from *learnt) {
	m, rep := from.Model, from.Report
	path := filepath.Join(made.Topic, modelFile)
	on, off, threshold := rep.PerClass[made.Name], rep.PerClass[train.Other], m.Threshold(made.Name)
	made.Model, made.Examples, made.Negatives, made.Threshold = &path, &on, &off, &threshold
	if cv := rep.CV; cv != nil {
		made.Accuracy, made.AccuracyCI, made.spread = &cv.Accuracy, cv.Interval(), cv.Spread()
		made.OnTopic = new(train.QualityOf(cv.PerClass[m.Class(made.Name)]))
	}
	if made.Unlabelled = from.Pool; from.Pool != nil {
		made.Negatives = &rep.PU.Reliable
	}
}

// Learning says what a topic's model is trained on.
type Learning struct {
	Name       string
	Examples   []string // sets of pages on topic
	Negatives  []string // sets of pages off topic; none: find them among Unlabelled
	Unlabelled []string // sets of unlabelled pages; none: the built-in demo set

	Seed int64
	Open datasets.Opener
	Say  func(format string, args ...any)
	Log  *slog.Logger
	Step func(what string)                     // see train.Options
	Rows func(datasets.Stream) datasets.Stream // may wrap the stream of training rows

	// Fetch fetches a start page, as a crawl would.
	Fetch func(ctx context.Context, url string) (*datasets.Example, error)
}

type learnt struct {
	Model     *models.Model
	Report    *train.Report
	Pool      *train.PU // nil if pages off topic are known
	Negatives []string  // sets of the pages off topic
}

// Fewest pages to train on: with fewer on a side, five folds leave nothing to judge by.
const (
	fewestExamples = 10
	fewestGiven    = 5 // examples, without negatives
)

func (l *Learning) learn(ctx context.Context) (*learnt, error) {
	on, no, err := Examples(l.Open, l.Name, l.Examples)
	if err != nil {
		return nil, err
	}
	if no != nil && len(l.Unlabelled) > 0 {
		return nil, cli.Usagef("topic %s: %s has pages that are labelled off topic, so --unlabelled pages are not needed; leave them out", l.Name, strings.Join(l.Examples, ", "))
	}
	off, few, many := l.Negatives, fewestExamples, "50"
	known := len(off) > 0 || no != nil // pages off topic
	if !known {
		few, many = fewestGiven, "30"
		if off = l.Unlabelled; len(off) == 0 {
			l.Say("no --unlabelled pages: the built-in demo set stands for the web; pages from around your topic, such as an old crawl, would teach the model more")
			off = []string{"demo"}
		}
	}
	rows, n, err := l.rows(on, no, off)
	if err != nil {
		return nil, err
	}
	// Linear, because its many probabilities rank links; a tree has only a handful.
	m, rep, err := train.Train(ctx, l.Rows(rows), train.Options{
		Target:     train.Target{Topic: l.Name, Unlabelled: !known},
		Classifier: models.LinearSVM, Seed: l.Seed, Log: l.Log, Step: l.Step,
		Data: slices.Concat(l.Examples, off), Split: "all",
	})
	switch {
	case err != nil && !errors.Is(err, train.ErrData):
		return nil, fmt.Errorf("topic %s: %w", l.Name, err)
	case n[l.Name] < few:
		return nil, fmt.Errorf("topic %s: %d pages in %s; give at least %d; %s or more make a good model",
			l.Name, n[l.Name], strings.Join(l.Examples, ", "), few, many)
	case n[train.Other] < fewestExamples && !known:
		return nil, fmt.Errorf("topic %s: %d pages in %s; give at least %d with --unlabelled; thousands are better",
			l.Name, n[train.Other], strings.Join(off, ", "), fewestExamples)
	case n[train.Other] < fewestExamples:
		return nil, fmt.Errorf("topic %s: %d pages off the topic in %s; give at least %d with --negatives",
			l.Name, n[train.Other], strings.Join(l.negatives(no != nil), ", "), fewestExamples)
	case err != nil:
		return nil, fmt.Errorf("topic %s: %w", l.Name, err)
	}
	made := &learnt{Model: m, Report: rep, Negatives: l.negatives(no != nil)}
	if rep.PU != nil {
		rep.PU.From = off
		made.Pool = rep.PU
	}
	return made, nil
}

// seedKeywords chooses K from start pages (paper A, section 3): the words that tell them from the pages off
// topic or, if none are given, from the demo set. by describes these words.
func (l *Learning) seedKeywords(ctx context.Context, urls []string) (k []string, by string, err error) {
	var pages []*datasets.Example
	for _, url := range urls {
		e, err := l.Fetch(ctx, url)
		if ctx.Err() != nil {
			return nil, "", context.Cause(ctx)
		}
		if err != nil {
			l.Say("start page left out: %v", err)
			continue
		}
		pages = append(pages, e.Labelled(l.Name, l.Name))
	}
	if len(pages) == 0 {
		return nil, "", fmt.Errorf("none of %d start pages could be fetched, so there is nothing to choose keywords from; give others, or give --keywords", len(urls))
	}
	off := slices.Concat(l.Negatives, l.Unlabelled)
	if len(off) == 0 {
		off = []string{"demo"}
	}
	rest, err := l.Open.Stream(off, nil, 0, nil)
	if err != nil {
		return nil, "", err
	}
	on := func(yield func(*datasets.Example, error) bool) {
		for _, e := range pages {
			if !yield(e, nil) {
				return
			}
		}
	}
	rows := l.Rows(l.labelled(on, rest, map[string]int{}))
	all, by, err := train.Keywords(ctx, rows, train.Options{Target: train.Target{Topic: l.Name}, Seed: l.Seed, Log: l.Log, Step: l.Step})
	return all[l.Name], cli.Sprintf("%s, of %d of %d start pages against %s", by, len(pages), len(urls), strings.Join(off, ", ")), err
}

// negatives names the sets of the pages known to be off topic.
func (l *Learning) negatives(labelled bool) []string {
	if labelled {
		return slices.Concat(l.Examples, l.Negatives)
	}
	return l.Negatives
}

// rows labels both sides and counts them as they are read. no, if any, has rows labelled off topic.
func (l *Learning) rows(on, no datasets.Stream, others []string) (rows datasets.Stream, n map[string]int, err error) {
	off := datasets.Chain()
	if len(others) > 0 {
		if off, err = l.Open.Stream(others, nil, 0, nil); err != nil {
			return nil, nil, err
		}
	}
	switch {
	case no != nil:
		off = datasets.Chain(no, off)
	case len(l.Negatives) == 0:
		on, off = train.Apart(on, off)
	}
	n = map[string]int{}
	return l.labelled(on, off, n), n, nil
}

// labelled chains both sides, gives each row its class, and counts the rows in n.
func (l *Learning) labelled(on, off datasets.Stream, n map[string]int) datasets.Stream {
	as := func(rows datasets.Stream, label string) datasets.Stream {
		return datasets.Map(rows, func(e *datasets.Example) *datasets.Example {
			n[label]++
			return e.Labelled(label, label)
		})
	}
	off = datasets.Only(off, func(e *datasets.Example) bool { return !e.Matches(l.Name) })
	return datasets.Chain(as(on, l.Name), as(off, train.Other))
}
