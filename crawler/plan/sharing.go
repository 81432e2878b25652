package plan

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"fossick/crawler"
	"fossick/internal/cli"
	"fossick/models"
	"fossick/relevance/propose"
)

// sharing is one of several topics of a crawl.
type sharing struct {
	Name     string
	Pages    uint64   `json:",omitempty"` // its share of the budget, relative to the others'; 0: all are equal
	Keywords []string `json:",omitempty"`
	Starts   []string `json:",omitempty"` // its own start pages, in normal form

	model string // file of its model, in a resumed crawl
}

const (
	mostTopics = 64   // that share a crawl
	mostStarts = 1000 // per topic: the settings keep them
)

// readTopics reads --topic a,b or a=500,b=1000 into Topic, names alone, and Shared, empty for
// a single topic.
func (c *Crawl) readTopics() error {
	if !strings.Contains(c.Topic, ",") {
		return nil
	}
	var names []string
	given := 0
	for text := range strings.SplitSeq(c.Topic, ",") {
		name, pages, has := cutLast(strings.TrimSpace(text), "=")
		t := sharing{Name: name}
		if has {
			var err error
			if t.Pages, err = strconv.ParseUint(pages, 10, 32); err != nil || t.Pages == 0 {
				return cli.Usagef("--topic %s: %q: want a number of pages after =, as %s=500", c.Topic, pages, name)
			}
			given++
		}
		if name == "" || slices.Contains(names, name) {
			return cli.Usagef("--topic %s: give each topic once, separated by commas", c.Topic)
		}
		names, c.Shared = append(names, name), append(c.Shared, t)
	}
	switch {
	case given > 0 && given < len(names):
		return cli.Usagef("--topic %s: give every topic a number of pages, as a=500,b=1000, or none, for equal parts", c.Topic)
	case len(names) > mostTopics:
		return cli.Usagef("--topic: %d topics; at most %d share a crawl", len(names), mostTopics)
	case len(c.Keywords) > 0 || c.Threshold != nil:
		return cli.Usagef("--topic %s: --keywords and --threshold work with one topic only; leave them out, or make topics with keywords by fossick topic new", c.Topic)
	}
	c.Topic = strings.Join(names, ",")
	return nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// recallShared takes the topics of a store's crawl, with budgets from the command line where
// given.
func (c *Crawl) recallShared(saved []sharing) error {
	asked := c.Shared
	c.Shared = saved
	for i := range saved {
		t := &saved[i]
		for _, path := range []string{sharedModelFile(c.Store, i), modelFile(c.Store)} {
			if t.model == "" {
				if err := takeFile(&t.model, path); err != nil {
					return err
				}
			}
		}
		if i < len(asked) && asked[i].Pages > 0 {
			t.Pages = asked[i].Pages
		}
	}
	return nil
}

func sharedModelFile(dir string, i int) string {
	return filepath.Join(dir, fmt.Sprintf("model-%d.fossick", i+1))
}

// ModelFiles returns the possible files of models in a store.
func ModelFiles(dir string) []string {
	files := []string{modelFile(dir)}
	more, _ := filepath.Glob(filepath.Join(dir, "model-*.fossick")) // fails on a bad pattern only
	return append(files, more...)
}

// find returns the topics of a crawl.
func (c *Crawl) find() (found []*models.Topic, err error) {
	if len(c.Shared) == 0 {
		t, err := c.Find(c.Topic)
		return []*models.Topic{t}, err
	}
	for _, s := range c.Shared {
		one := Goal{Model: c.Model, Keywords: s.Keywords}
		if s.model != "" && one.Model == "" {
			one.Model = s.model
		}
		t, err := one.Find(s.Name)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(found, func(o *models.Topic) bool { return o.Name == t.Name }) {
			return nil, cli.Usagef("--topic %s: the topic %s is given twice", c.Topic, t.Name)
		}
		found = append(found, t)
	}
	return found, nil
}

// budgets divides a crawl's pages among its topics. Without a total they are the topics' own.
func (c *Crawl) budgets() []float64 {
	var sum uint64
	for _, t := range c.Shared {
		sum += t.Pages
	}
	if c.MaxPages == 0 {
		c.MaxPages = sum
	}
	pages := cmp.Or(c.pages(sum), sum, defaultPages)
	budgets := make([]float64, len(c.Shared))
	for i, t := range c.Shared {
		budgets[i] = float64(pages) / float64(len(budgets))
		if sum > 0 {
			budgets[i] = float64(pages) * float64(t.Pages) / float64(sum)
		}
	}
	return budgets
}

// ownStarts finds the start pages of each topic of a new crawl, unless some are named for all.
func (c *Crawl) ownStarts(opt *crawler.Options, topics []*models.Topic) error {
	if len(c.Shared) == 0 || len(c.Seed) > 0 || c.Seeds != "" {
		return nil
	}
	n := 0
	for i, t := range topics {
		if len(t.Seeds) == 0 {
			return cli.Usagef("topic %s has no start pages of its own; give some for all topics with --seed URL or --seeds FILE", t.Name)
		}
		list, err := propose.ReadStartPages(opt.URLs, t.Seeds, "", t.Name)
		if err != nil {
			return err
		}
		if n += len(list.URLs); n > mostStarts {
			return cli.Usagef("the topics have more than %d start pages of their own; give start pages for all topics with --seeds FILE", mostStarts)
		}
		c.Shared[i].Starts = list.URLs
	}
	return nil
}

// share combines the scorers of the topics that share a crawl.
func (c *Crawl) share(opt *crawler.Options, topics []*models.Topic, how string, seed int64) error {
	p, err := Named(how)
	if err != nil {
		return err
	}
	opt.Threshold = 0 // one topic may want what another drops
	all := make([]topic, len(topics))
	for i, budget := range c.budgets() {
		in, err := c.input(opt, topics[i], p, how, seed)
		if err != nil {
			return err
		}
		in.Topics = len(topics)
		all[i] = topic{Name: topics[i].Name, Budget: budget, Starts: c.Shared[i].Starts, Labeller: in.Labeller}
		if all[i].Scorer, err = p.Scorer(in); err != nil {
			return cli.Usagef("topic %s: %w", topics[i].Name, err)
		}
	}
	opt.Scorer = newSeveral(all)
	return useScores(opt, p.SharedOrdering)
}

// keepModels writes the topics' models into their store: one for all topics, or one for each.
func (c *Crawl) keepModels(all []*models.Model) error {
	if len(all) > 0 && all[0] != nil && !slices.ContainsFunc(all, func(m *models.Model) bool { return m != all[0] }) {
		return all[0].WriteFile(modelFile(c.Store))
	}
	var errs []error
	for i, m := range all {
		if m != nil {
			errs = append(errs, m.WriteFile(sharedModelFile(c.Store, i)))
		}
	}
	return errors.Join(errs...)
}
