package plan

import (
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"fossick/datasets"
	"fossick/eval/lab"
	"fossick/internal/printable"
	"fossick/internal/usage"
	"fossick/models/features"
	"fossick/train"
	"fossick/train/judge"
	"fossick/train/topics"
)

// truth returns by what pages are judged, nil for the labels of the corpus, or those that
// the judge gives it.
func (s *Setup) truth() (*datasets.Truth, error) {
	p := s.plan
	switch {
	case p.Truth != "":
		truth, err := datasets.ReadTruth(p.Truth)
		if err != nil {
			return nil, err
		}
		if err := truth.Known(p.Topic); err != nil {
			return nil, usage.Errorf("%w; choose one with --topic", err)
		}
		return truth, nil
	case p.Judge != "":
		return nil, s.judge()
	case !slices.ContainsFunc(s.Corpus.Rows, func(row *lab.Row) bool { return row.Labels.Match(p.Topic) }):
		return nil, usage.Errorf("--topic %s: no page of %s has this label; it has %s", p.Topic, p.Corpus, printable.SomeNames(p.Topic, s.labels()))
	}
	return nil, nil
}

// labels returns those of the corpus, sorted.
func (s *Setup) labels() []string {
	labels := map[string]bool{}
	for _, row := range s.Corpus.Rows {
		if l := row.Labels.Label; l != "" {
			labels[l] = true
		}
	}
	return printable.SortedKeys(labels)
}

// judge gives every page of the corpus the label that the judge would, by its own
// threshold.
func (s *Setup) judge() error {
	p := s.plan
	c, err := topics.Classifier(p.Judge)
	if err != nil {
		return err
	}
	topic, err := judge.NewTopic(c, p.Judge, p.Topic, "")
	if err != nil {
		return err
	}
	p.Work.Step("judging the pages", 0)
	for _, row := range s.Corpus.Rows {
		row.Labels = datasets.Labels{}
	}
	eachPage(s.Corpus, func(n int, d features.Doc) {
		s.Corpus.Rows[n].Labels.Label = p.labelOf(topic.Relevant(d))
	})
	s.judgeTrained = topic.Known.Share()
	return nil
}

// labelOf is what pages on topic are called, and all others.
func (p *Plan) labelOf(onTopic bool) string {
	if onTopic {
		return p.Topic
	}
	return train.Other
}

// eachPage calls do with the rows that are pages, several at a time.
func eachPage(c *lab.Corpus, do func(n int, d features.Doc)) {
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for n, row := range c.Rows {
		if row.Page != nil {
			g.Go(func() error { do(n, features.Doc(row.Page.Fields())); return nil })
		}
	}
	_ = g.Wait() // no error comes
}
