package crawlplan

import (
	"errors"
	"slices"

	"fossick/internal/printable"
	"fossick/internal/usage"
	"fossick/models"
	"fossick/train/topics"
)

// Goal is what a crawl looks for, and from where.
type Goal struct {
	Seed     []string `placeholder:"URL" sep:"none" help:"Start page; may be repeated." group:"what"`
	Seeds    string   `placeholder:"FILE" help:"File of start pages, one a line, # comments." group:"what"`
	Keywords []string `placeholder:"WORDS" help:"Words and phrases of the topic, by comma [its own]." group:"what"`
	Model    string   `placeholder:"M" help:"Model that labels the pages, a file or a topic's name [its own]." group:"what" predictor:"models"`
}

func (g *Goal) settings(saved *Goal) []setting {
	seed, seeds := listOf("seed", &g.Seed, &saved.Seed), of("", "", &g.Seeds, &saved.Seeds, itself)
	seed.without = "the topic's"
	return []setting{seed, seeds, listOf("keywords", &g.Keywords, &saved.Keywords), of("model", "", &g.Model, &saved.Model, itself)}
}

// Find finds the topic of a name, with the model and the keywords that are given.
func (g *Goal) Find(name string) (*models.Topic, error) {
	t, err := topics.Find(name)
	if errors.Is(err, models.ErrNoTopic) {
		if g.Model == "" && len(g.Keywords) == 0 {
			return nil, usage.Errorf("%w; or give --model or --keywords", err)
		}
		t, err = &models.Topic{Name: name}, nil
	}
	if err != nil {
		return nil, err
	}
	if g.Model != "" {
		if t.Model, err = topics.Model(g.Model); err != nil {
			return nil, err
		}
		t.Keywords = nil // they belong to the topic's own model
	}
	if t.Model != nil && !slices.Contains(t.Model.Classes, t.Name) {
		return nil, usage.Errorf("--topic %s: the model has no such label; it knows %s", t.Name, printable.SomeNames(t.Name, t.Model.Classes))
	}
	if len(g.Keywords) > 0 {
		t.Keywords = g.Keywords
	}
	if len(t.Keywords) == 0 && t.Model != nil {
		t.Keywords = t.Model.Keywords[t.Name]
	}
	return t, nil
}

// startsAt returns the start pages that are named, else the topic's, and the file of more.
func (g *Goal) startsAt(t *models.Topic) (named []string, file string) {
	if len(g.Seed) == 0 && g.Seeds == "" {
		return t.Seeds, ""
	}
	return g.Seed, g.Seeds
}
