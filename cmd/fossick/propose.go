package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"strings"

	"fossick/classify"
	"fossick/internal/printable"
	"fossick/internal/report"
	"fossick/models/features"
	"fossick/relevance/propose"
	"fossick/train/topics"
)

// proposeCmd proposes start pages for a crawl.
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
  fossick topic propose demo --examples saved-pages/ --keywords bee,hive -n 20
  fossick topic propose sitemap.xml --keywords mortgage,loan,"interest rate"
  fossick focus --topic banking --seeds seeds.txt --contact you@example.org`
}

// proposeResult is what propose prints.
type proposeResult struct {
	Proposals  []proposalResult `json:"proposals"`
	Source     string           `json:"source"`
	Candidates int              `json:"candidates"`
	Examples   int              `json:"examples"` // pages that were given
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

// counted is a source that tells of each candidate that it yields.
func counted(source propose.Source, add func(n int)) propose.Source {
	return func(yield func(*propose.Candidate, error) bool) {
		source(func(c *propose.Candidate, err error) bool {
			add(1)
			return yield(c, err)
		})
	}
}

// topic is what --topic and --keywords say.
func (c *proposeCmd) topic(a *app) (t propose.Topic, err error) {
	t.Keywords = c.Keywords
	if c.Topic == "" {
		return t, nil
	}
	known, err := topics.Find(c.Topic)
	switch {
	case err != nil && len(c.Examples)+len(c.Keywords) > 0:
		return t, nil // the name of a label, or of a topic to be
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

// seeds is the file for --seeds.
func (r *proposeResult) seeds() string {
	var b strings.Builder
	printable.Fprintf(&b, "# %s proposed from %s, of %s\n", report.StartPages(len(r.Proposals)), r.Source, report.Count(r.Candidates, "candidate"))
	for _, p := range r.Proposals {
		printable.Fprintf(&b, "# %.3f %s\n%s\n", p.Score, printable.Cut(p.Why, 300), p.URL)
	}
	return b.String()
}

func (r *proposeResult) print(w io.Writer) {
	printable.Fprintf(w, "%s of %s in %s\n", report.StartPages(len(r.Proposals)), report.Count(r.Candidates, "candidate"), r.Source)
	for _, p := range r.Proposals {
		printable.Fprintf(w, "%.3f  %s\n       %s\n", p.Score, p.URL, printable.Cut(p.Why, 300))
	}
	if r.Out != nil {
		printable.Fprintf(w, "crawl with: fossick focus --topic %s --seeds %s --contact you@example.org\n", orName(r.topic), *r.Out)
	}
}

// orName is a topic's name for a command to paste.
func orName(topic string) string {
	if topic == "" {
		return "NAME"
	}
	return topic
}
