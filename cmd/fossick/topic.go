package main

import (
	"context"
	"io"

	"fossick/datasets"
	"fossick/train/topics"
)

type topicCmd struct {
	List    topicListCmd  `cmd:"" help:"List the topics, built in and your own."`
	Show    topicShowCmd  `cmd:"" help:"Show a topic: keywords, start pages, how good its model is."`
	Propose proposeCmd    `cmd:"" help:"Propose start pages for a topic, out of a corpus, a store, a sitemap or a list."`
	Check   topicCheckCmd `cmd:"" help:"Fetch a topic's start pages: which answer, and which are on topic?"`
	New     topicNewCmd   `cmd:"" help:"Make a topic of your own from keywords or examples, and start pages."`
}

type topicNewCmd struct{ topics.Wanted }

func (topicNewCmd) Help() string {
	return `Makes a topic: a folder with topic.toml, which you may edit, and with --examples a model that tells the topic's pages from others.

Examples:
  fossick topic new wasps --seed example.org/wasps --keywords wasp,hornet
  fossick topic new bees --seed example.org/bees --examples saved-pages/
  fossick topic new hives --examples saved-pages/ --unlabelled old-crawl/
  fossick focus --topic bees --contact you@example.org`
}

func (c topicNewCmd) Run(a *app) error {
	work := a.task("reading pages", "pages")
	defer work.End()
	made, err := c.Make(a.ctx, topics.Learning{
		Seed: a.seed, Open: a.openSet, Say: a.say, Log: a.log, Step: stepsOf(work),
		Rows: func(rows datasets.Stream) datasets.Stream { return datasets.Counted(rows, work.Add) },
		Fetch: func(_ context.Context, url string) (*datasets.Example, error) {
			p, err := a.fetchPage(url, c.Contact, c.AllowNet, c.Proxy)
			if err != nil {
				return nil, err
			}
			return &datasets.Example{URL: url, Title: p.Title, Text: p.Text}, nil
		},
	})
	if err != nil {
		return err
	}
	work.End()
	return a.emit(made, made.Print)
}

type topicListCmd struct{}

func (topicListCmd) Help() string {
	return `Lists the topics that --topic and --model know by name: the built-in ones and those in the folder topics of the working folder. A topic that topic new --out made elsewhere is not listed: name its folder instead, as --topic DIR.

Example:
  fossick topic list`
}

func (topicListCmd) Run(a *app) error {
	all := topics.List()
	return a.emit(topicsResult{all}, func(w io.Writer) { topics.PrintList(w, all) })
}

// topicsResult is what topic list and topic show print.
type topicsResult struct {
	Topics []*topics.Info `json:"topics"`
}

type topicShowCmd struct {
	Name string `arg:"" help:"A topic's name, or its folder." predictor:"topics"`
}

func (topicShowCmd) Help() string {
	return `Shows a topic: its keywords, its start pages, the training set of its model, and how good the model was on it.

Example:
  fossick topic show science`
}

func (c topicShowCmd) Run(a *app) error {
	info, err := topics.InfoOf(c.Name)
	if err != nil {
		return err
	}
	return a.emit(topicsResult{[]*topics.Info{info}}, info.Print)
}
