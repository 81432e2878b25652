package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"fossick/datasets"
	"fossick/internal/printable"
	"fossick/judge"
	"fossick/models"
	"fossick/page"
	"fossick/relevance"
	"fossick/report"
	"fossick/seeds"
	"fossick/topics"
	"fossick/train"
	"fossick/train/plan"
)

type topicCmd struct {
	List topicListCmd `cmd:"" help:"List the topics, built in and your own."`
	Show topicShowCmd `cmd:"" help:"Show a topic: keywords, start pages, what its model is worth."`
	New  topicNewCmd  `cmd:"" help:"Make a topic of your own from keywords or examples, and start pages."`
}

type topicNewCmd struct {
	Name       string   `arg:"" help:"Name of the topic; focus --topic NAME finds it."`
	Keywords   []string `placeholder:"WORDS" help:"K: words and phrases that pages on the topic use, by comma [chosen from the examples]."`
	Seed       []string `sep:"none" placeholder:"URL" help:"Start page; may be repeated [none: fossick propose finds some]."`
	Seeds      string   `placeholder:"FILE" help:"File of start pages, one a line, # comments."`
	Examples   []string `sep:"none" placeholder:"SET" help:"Pages on the topic, to train a model on: a folder of .html or .txt files, or any set; of a set with the label NAME only those rows. May be repeated." complete:"sets"`
	Negatives  []string `sep:"none" placeholder:"SET" help:"Pages off the topic, for the same model; rows with the label NAME are passed over. May be repeated [found among --unlabelled]." complete:"sets"`
	Unlabelled []string `sep:"none" placeholder:"SET" help:"Pages of any kind, on topic and off: a corpus, a store. What is surely off topic among them is found out. May be repeated [demo]." complete:"sets"`
	Out        string   `placeholder:"DIR" help:"Folder to make [topics/NAME]."`
}

func (topicNewCmd) Help() string {
	return `Makes a topic: a folder with topic.toml, which you may edit, and with --examples a model that tells the topic's pages from others.

Examples:
  fossick topic new wasps --seed example.org/wasps --keywords wasp,hornet
  fossick topic new bees --seed example.org/bees --examples saved-pages/
  fossick topic new hives --examples saved-pages/ --unlabelled old-crawl/
  fossick focus --topic bees --contact you@example.org`
}

// topicResult is what topic new prints (cli.md). What is learnt from examples is
// null without them.
type topicResult struct {
	Topic      string              `json:"topic"` // its folder
	Name       string              `json:"name"`
	Keywords   []string            `json:"keywords"`
	Seeds      []string            `json:"seeds"`
	Model      *string             `json:"model"` // its file
	Examples   *int                `json:"examples"`
	Negatives  *int                `json:"negatives"`      // given, or found among unlabelled pages
	From       []string            `json:"negatives_from"` // null where they were found
	Unlabelled *plan.Pool          `json:"unlabelled"`     // null with negatives
	Accuracy   *float64            `json:"accuracy"`       // by cross-validation
	AccuracyCI *[2]float64         `json:"accuracy_ci"`
	OnTopic    *judge.ClassQuality `json:"on_topic"`
	Threshold  *float64            `json:"threshold"`
}

func (c topicNewCmd) Run(a *app) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.Out == "" {
		c.Out = topics.Own(c.Name)
	}
	if path := filepath.Join(c.Out, "topic.toml"); exists(path) {
		return fmt.Errorf("%s is there already; remove it, or give the topic another name or --out", path)
	}
	starts := []string{}
	if len(c.Seed) > 0 || c.Seeds != "" {
		list, err := seeds.Collect(page.NewNormalizer(page.DefaultDrop()), c.Seed, c.Seeds, "")
		if err != nil {
			return err
		}
		if assumed := list.Assumed(); assumed != "" {
			a.say("%s", assumed)
		}
		starts = list.URLs
	}
	t := &models.Topic{Name: c.Name, Title: c.Name, Keywords: c.Keywords, Seeds: starts}
	r := &topicResult{Topic: c.Out, Name: c.Name, Seeds: starts}
	if len(c.Examples) > 0 {
		if err := c.train(a, t, r); err != nil {
			return err
		}
	}
	k, err := relevance.NewKeywords(t.Keywords)
	if err != nil {
		return usagef("topic %s: %w", c.Name, err)
	}
	t.Keywords = k.Words()
	r.Keywords = t.Keywords
	if err := models.WriteTopic(c.Out, t); err != nil {
		return err
	}
	return a.emit(r, r.print)
}

// check refuses what cannot become a topic before anything is read.
func (c *topicNewCmd) check() error {
	switch {
	case c.Name == "" || topics.FileName(c.Name) != c.Name:
		return usagef("topic %q: its name becomes a folder's; use letters and digits, without spaces or slashes", c.Name)
	case c.Name == train.Other:
		return usagef("topic %q: that is what a model calls the pages off the topic; take another name", c.Name)
	case len(c.Keywords) == 0 && len(c.Examples) == 0:
		return usagef("topic %s: nothing says what it is about; give --keywords a,b,c or --examples with a folder of pages, or both", c.Name)
	case len(c.Negatives) > 0 && len(c.Examples) == 0:
		return usagef("topic %s: --negatives are for training a model, which needs --examples too", c.Name)
	case len(c.Unlabelled) > 0 && len(c.Examples) == 0:
		return usagef("topic %s: --unlabelled is for training a model, which needs --examples too", c.Name)
	case len(c.Unlabelled) > 0 && len(c.Negatives) > 0:
		return usagef("topic %s: give --negatives, known to be off topic, or --unlabelled, of which nothing is known", c.Name)
	}
	return nil
}

// train gives the topic a model of its own, and K when none was given.
func (c *topicNewCmd) train(a *app, t *models.Topic, r *topicResult) error {
	work := a.task("reading pages", "pages")
	defer work.End()
	learning := topics.Learning{
		Name: c.Name, Examples: c.Examples, Negatives: c.Negatives, Unlabelled: c.Unlabelled,
		Seed: a.seed, Open: a.openSet, Say: a.say, Log: a.log, Step: stepsOf(work),
		Rows: func(rows datasets.Stream) datasets.Stream { return datasets.Counted(rows, work.Add) },
	}
	learnt, err := learning.Learn(a.ctx)
	if err != nil {
		return err
	}
	if t.Model = learnt.Model; len(t.Keywords) == 0 {
		t.Keywords = t.Model.Keywords[c.Name]
	}
	r.learnt(t.Model, learnt.Report)
	if r.From, r.Unlabelled = c.Negatives, learnt.Pool; r.Unlabelled != nil {
		r.Negatives = &learnt.Report.PU.Reliable
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// learnt notes what training said.
func (r *topicResult) learnt(m *models.Model, rep *train.Report) {
	path := filepath.Join(r.Topic, "model.fossick")
	on, off := rep.PerClass[r.Name], rep.PerClass[train.Other]
	threshold := m.Threshold(r.Name)
	r.Model, r.Examples, r.Negatives, r.Threshold = &path, &on, &off, &threshold
	if cv := rep.CV; cv != nil {
		k := cv.PerClass[m.Class(r.Name)]
		r.Accuracy, r.AccuracyCI = &cv.Accuracy, &cv.CI
		r.OnTopic = new(judge.QualityOf(k))
	}
}

func (r *topicResult) print(w io.Writer) {
	printable.Fprintf(w, "Topic %s in %s: %s, %s\n", r.Name, r.Topic, report.Count(len(r.Keywords), "keyword"), report.StartPages(len(r.Seeds)))
	printable.Fprintf(w, "  keywords: %s\n", strings.Join(r.Keywords, ", "))
	if r.Unlabelled != nil {
		r.Unlabelled.Print(w)
	} else if r.Model != nil {
		printable.Fprintf(w, "  model: trained on %d pages on topic and %d off (%s)\n", *r.Examples, *r.Negatives, strings.Join(r.From, ", "))
	}
	if r.Accuracy != nil {
		printable.Fprintf(w, "  in cross-validation %.1f %% right (95 %% interval %.1f to %.1f); of the topic's pages, precision %s, recall %s\n",
			100**r.Accuracy, 100*r.AccuracyCI[0], 100*r.AccuracyCI[1], judge.Share(r.OnTopic.Precision), judge.Share(r.OnTopic.Recall))
	}
	name := r.Name
	if r.Topic != topics.Own(r.Name) {
		name = r.Topic
	}
	if len(r.Seeds) == 0 {
		printable.Fprintf(w, "start pages: fossick propose SOURCE --topic %s -o seeds.txt\n", name)
		printable.Fprintf(w, "crawl with: fossick focus --topic %s --seeds seeds.txt --contact you@example.org\n", name)
		return
	}
	printable.Fprintf(w, "crawl with: fossick focus --topic %s --contact you@example.org\n", name)
}
