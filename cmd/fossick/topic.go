package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fossick/classify"
	"fossick/crawler"
	"fossick/crawler/fetch"
	"fossick/crawler/plan"
	"fossick/datasets"
	"fossick/eval/monitor"
	"fossick/internal/cli"
	"fossick/internal/report"
	"fossick/models/features"
	"fossick/relevance/propose"
	"fossick/store"
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

type topicCheckCmd struct {
	Name      string        `arg:"" help:"A topic's name, or its folder." predictor:"topics"`
	Contact   string        `type:"contact" placeholder:"MAIL|URL" help:"How a site's owner can reach you; needed for the public web."`
	Timeout   time.Duration `default:"20s" placeholder:"D" help:"Longest time of one request [${default}]."`
	Delay     string        `type:"delay" placeholder:"D" help:"Rest after each fetch from a host: auto, or a time; 0 for your own servers [auto]." predictor:"auto,0"`
	UserAgent string        `placeholder:"NAME" help:"Name/version sent to servers and looked for in robots.txt [fossick/VERSION]." expert:""`
	plan.Ways
}

func (topicCheckCmd) Help() string {
	return `Fetches the start pages of a topic, as politely as a crawl, and shows which of them answer with a page, and which of these pages the topic's model finds on topic. It follows redirects and judges the page that they lead to. It stores nothing and follows no link.

It asks three times for a start page that does not answer. A start page counts as not answering when its host asks for a rest of more than a minute, or after ten minutes.

The exit code is 0 when at least one start page answers, since a crawl can begin there, and 1 when none does.

Examples:
  fossick topic check science --contact you@example.org
  fossick topic check bees --proxy http://127.0.0.1:8090 --delay 0`
}

// How long topic check waits for a host that wants to be left alone, and in all.
const (
	checkWait = time.Minute
	checkTime = 10 * time.Minute
)

type checked struct {
	Topic    string              `json:"topic"`
	Seeds    []monitor.StartPage `json:"seeds"`
	Answered int                 `json:"answered"`
	OnTopic  int                 `json:"on_topic"`
}

// Run crawls only the start pages, into a temporary store.
func (c topicCheckCmd) Run(a *app) (err error) {
	asked := plan.Crawl{Topic: c.Name, Settings: plan.Settings{
		Network: plan.Network{Ways: c.Ways},
		Manners: plan.Manners{Delay: c.Delay, Timeout: c.Timeout, UserAgent: c.UserAgent, Contact: c.Contact},
	}}
	plan, err := asked.Plan(plan.Program{Version: version, Seed: a.seed, Log: a.log, Say: a.say})
	if err != nil {
		return err
	}
	fetcher, err := fetch.New(plan.Fetch)
	if err != nil {
		return cli.Usage(err)
	}
	defer fetcher.Close()
	dir, err := os.MkdirTemp("", "fossick-check-")
	if err != nil {
		return fmt.Errorf("topic check: %w; set TMPDIR to a folder for temporary files", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s, err := store.Create(filepath.Join(dir, "store"), store.Info{Version: version, Topic: c.Name})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	opt := plan.Crawl
	opt.Store, opt.Fetcher = s, fetcher
	opt.Threshold = 2 // no link scores this much, so none is followed
	opt.KeepNear, opt.FollowTraps, opt.Patience = true, true, 1
	opt.MaxPages, opt.MaxTime, opt.MaxWait = 0, checkTime, checkWait
	return c.check(a, opt)
}

func (c topicCheckCmd) check(a *app, opt crawler.Options) error {
	engine, err := crawler.New(opt)
	if err != nil {
		return err
	}
	asking := a.step("asking " + report.StartPages(len(opt.Seeds)))
	done, err := engine.Run(a.ctx)
	asking()
	if err != nil {
		return err
	}
	r := checked{Topic: c.Name, Seeds: []monitor.StartPage{}}
	for _, url := range opt.Seeds {
		p, ended := monitor.StartPageOf([]*store.Store{opt.Store}, url)
		if !ended {
			p.State, p.Reason = string(fetch.StateNone), "no answer before the check ended"
		}
		if p.Answered() {
			r.Answered++
		}
		if p.OnTopic != nil && *p.OnTopic {
			r.OnTopic++
		}
		r.Seeds = append(r.Seeds, p)
	}
	if err := a.emit(r, r.print); err != nil {
		return err
	}
	switch {
	case done.Stopped == crawler.StopInterrupted:
		return errInterrupted
	case r.Answered == 0:
		return fmt.Errorf("topic %s: no start page answers; see the reasons, and give others: --seed for a crawl, or seeds in the topic.toml of your own topic", c.Name)
	}
	return nil
}

func (r checked) print(w io.Writer) {
	for _, p := range r.Seeds {
		says := p.State + ", " + cli.Cut(p.Reason, 200)
		switch {
		case p.Answered() && p.OnTopic != nil && *p.OnTopic:
			says = "answers, on topic"
		case p.Answered():
			says = "answers, off topic"
		}
		cli.Fprintf(w, "%s: %s", p.URL, says)
		if p.RedirectedTo != nil {
			cli.Fprintf(w, " (redirected to %s)", *p.RedirectedTo)
		}
		io.WriteString(w, "\n")
	}
	cli.Fprintf(w, "%s: %d of %s answer, %d of them on topic\n", r.Topic, r.Answered, report.StartPages(len(r.Seeds)), r.OnTopic)
}

type proposeCmd struct {
	Source   string   `arg:"" name:"SOURCE" help:"Where to look: a corpus or a store; a sitemap (.xml, .xml.gz); a file of URLs or links, a line each: URL, URL TAB words, URL TAB URL TAB words." predictor:"sets"`
	Topic    string   `placeholder:"T" help:"A topic's name (built in: $${topics}; your own), or its folder; its model judges the pages, its keywords the URLs." predictor:"topics"`
	Keywords []string `placeholder:"WORDS" help:"Words and phrases of the topic, by comma."`
	Examples []string `sep:"none" placeholder:"SET" help:"Pages on the topic: a folder of .html or .txt files, or any set; if a set has the label that --topic names, only those rows. May be repeated. These pages are not proposed, nor are pages labelled off topic, which do not count in the ranking." predictor:"sets"`
	N        int      `short:"n" default:"10" placeholder:"N" help:"Start pages to propose [10]."`
	Out      string   `short:"o" placeholder:"FILE" help:"File to write the start pages to, for --seeds: one a line, with the reason as a comment."`
}

func (proposeCmd) Help() string {
	return `Proposes start pages for a crawl from pages or URLs that you already have: pages that are on topic, lead to many others on topic, and differ from one another. It reads the source twice. Where only URLs are known, it goes by their words and the words of the links to them.

Examples:
  fossick topic propose old-crawl/ --topic banking -o seeds.txt
  fossick topic propose demo --examples saved-pages/ \
      --keywords bee,hive -n 20
  fossick topic propose sitemap.xml --keywords mortgage,loan,"interest rate"
  fossick focus --topic banking --seeds seeds.txt --contact you@example.org`
}

type proposeResult struct {
	Proposals  []proposalResult `json:"proposals"`
	Source     string           `json:"source"`
	Candidates int              `json:"candidates"`
	Examples   int              `json:"examples"` // number of pages given
	Out        *string          `json:"out"`      // null without -o

	topic string // for the next command
}

type proposalResult struct {
	URL   string  `json:"url"`
	Score float64 `json:"score"`
	Why   string  `json:"why"`
}

func (c *proposeCmd) Run(a *app) error {
	switch {
	case c.Topic == "" && len(c.Keywords) == 0 && len(c.Examples) == 0:
		return usagef("the topic of the start pages is missing; give --topic T, --keywords a,b,c or --examples SET")
	case c.N < 1:
		return usagef("-n %d: want at least 1 start page", c.N)
	}
	topic, err := c.topic(a)
	if err != nil {
		return err
	}
	given, err := c.examples(a, &topic)
	if err != nil {
		return err
	}
	source, err := propose.Open(c.Source, a.openSet, a.log)
	if err != nil {
		return err
	}
	task := a.task("looking for start pages, reading "+c.Source+" twice", "pages")
	defer task.End()
	found, err := propose.Propose(a.ctx, topic, counted(source, task.Add), propose.Options{
		N: c.N, Exclude: func(url string) bool { return given[url] },
	})
	if err != nil {
		return fmt.Errorf("%s: %w", c.Source, err)
	}
	if len(found.Proposals) == 0 {
		return fmt.Errorf("%s: none of %d candidates looks like the topic; give other keywords or more examples, or another source", c.Source, found.Candidates)
	}
	r := &proposeResult{Source: c.Source, Candidates: found.Candidates, Examples: len(topic.Examples), topic: c.Topic}
	for _, p := range found.Proposals {
		r.Proposals = append(r.Proposals, proposalResult(p))
	}
	if n := len(r.Proposals); n < c.N {
		a.log.Warn("no more candidates are on topic, lead to pages on topic and differ from these", "proposed", n, "wanted", c.N)
	}
	if c.Out != "" {
		r.Out = &c.Out
		if err := os.WriteFile(c.Out, []byte(r.seeds()), 0o644); err != nil {
			return fmt.Errorf("start pages: %w", err)
		}
	}
	return a.emit(r, r.print)
}

func counted(source propose.Source, add func(n int)) propose.Source {
	return func(yield func(*propose.Candidate, error) bool) {
		source(func(c *propose.Candidate, err error) bool {
			add(1)
			return yield(c, err)
		})
	}
}

func (c *proposeCmd) topic(a *app) (t propose.Topic, err error) {
	t.Keywords = c.Keywords
	if c.Topic == "" {
		return t, nil
	}
	known, err := topics.Find(c.Topic)
	switch {
	case err != nil && len(c.Examples)+len(c.Keywords) > 0:
		return t, nil // the name of a label, or of a future topic
	case err != nil:
		return t, usagef("%w; or give --keywords or --examples", err)
	}
	t.Keywords = append(t.Keywords, known.Keywords...)
	if known.Model == nil {
		return t, nil
	}
	clf, err := classify.New(known.Model)
	if err != nil {
		return t, fmt.Errorf("topic %s: %w", c.Topic, err)
	}
	t.Judge = func(d features.Doc) float64 { return clf.Score(d, known.Name) }
	return t, nil
}

// examples adds the pages of --examples to the topic, and returns their URLs.
func (c *proposeCmd) examples(a *app, t *propose.Topic) (given map[string]bool, err error) {
	if len(c.Examples) == 0 {
		return nil, nil
	}
	rows, off, err := topics.Examples(a.openSet, c.Topic, c.Examples)
	if err != nil {
		return nil, err
	}
	if given, err = t.Learn(rows, a.log); err == nil && len(t.Examples) == 0 {
		err = fmt.Errorf("no page can be read in %s; give a folder of pages or a set", strings.Join(c.Examples, ", "))
	}
	if err != nil || off == nil {
		return given, err
	}
	no, err := new(propose.Topic).Learn(off, a.log)
	a.log.Warn("candidates are ranked by the pages on topic alone; pages that are labelled off topic are not proposed, and not used else", "off_topic", len(no))
	maps.Copy(given, no)
	return given, err
}

func (r *proposeResult) seeds() string {
	var b strings.Builder
	cli.Fprintf(&b, "# %s proposed from %s, of %s\n", report.StartPages(len(r.Proposals)), r.Source, report.Count(r.Candidates, "candidate"))
	for _, p := range r.Proposals {
		cli.Fprintf(&b, "# %.3f %s\n%s\n", p.Score, cli.Cut(p.Why, 300), p.URL)
	}
	return b.String()
}

func (r *proposeResult) print(w io.Writer) {
	cli.Fprintf(w, "%s of %s in %s\n", report.StartPages(len(r.Proposals)), report.Count(r.Candidates, "candidate"), r.Source)
	for _, p := range r.Proposals {
		cli.Fprintf(w, "%.3f  %s\n       %s\n", p.Score, p.URL, cli.Cut(p.Why, 300))
	}
	if r.Out != nil {
		cli.Fprintf(w, "crawl with: fossick focus --topic %s --seeds %s --contact you@example.org\n", orName(r.topic), *r.Out)
	}
}

// orName is a topic's name for a command to paste.
func orName(topic string) string {
	if topic == "" {
		return "NAME"
	}
	return topic
}
