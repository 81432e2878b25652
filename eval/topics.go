package eval

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"fossick/internal/report"
	"fossick/store"
)

// TopicFigures are one topic's, of several that share a crawl, by the crawl's own labels.
type TopicFigures struct {
	Fetched   int       `json:"fetched"` // all pages: each is judged for each topic
	Relevant  int       `json:"relevant"`
	Harvest   *float64  `json:"harvest"`
	HarvestCI *Interval `json:"harvest_ci"`
	Paid      float64   `json:"paid"` // pages; see docs/topics.md
}

// topicsOf says which topics a page is on, a bit each.
func topicsOf(p *store.Page) (on uint64) {
	for i, v := range p.Topics {
		if v.Relevant {
			on |= 1 << i
		}
	}
	return on
}

// JudgeByTopic takes the labels that the crawl gave its pages for one of several topics;
// false where it has no such topic.
func (c *Crawl) JudgeByTopic(name string) bool {
	i := slices.Index(c.Info.Topics, name)
	if i < 0 {
		return false
	}
	c.Source.Target = name
	for k := range c.Pages {
		p := &c.Pages[k]
		p.Verdict = Verdict{Relevant: p.Topics&(1<<i) != 0, Known: true, Class: p.Label}
	}
	return true
}

// topicFigures returns those of each topic, nil of one alone.
func (c *Crawl) topicFigures() map[string]TopicFigures {
	if c.Source.Kind != ByCrawl || len(c.Info.Topics) == 0 {
		return nil
	}
	all := map[string]TopicFigures{}
	for i, name := range c.Info.Topics {
		f := TopicFigures{Fetched: len(c.Pages)}
		on := func(k int) bool { return c.Pages[k].Topics&(1<<i) != 0 }
		for k := range c.Pages {
			if on(k) {
				f.Relevant++
			}
		}
		f.Harvest, f.HarvestCI = share(f.Relevant, f.Fetched), harvestCI(f.Fetched, on)
		if i < len(c.Counts.Topics) {
			f.Paid = c.Counts.Topics[i].Paid
		}
		all[name] = f
	}
	return all
}

// topicsSentence tells how many pages each topic has, "" of one alone.
func topicsSentence(f Figures) string {
	if len(f.Topics) == 0 {
		return ""
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(f.Topics)) {
		t := f.Topics[name]
		part := fmt.Sprintf("%s %s", name, report.Number(t.Relevant))
		if t.Harvest != nil {
			part += fmt.Sprintf(" (%s)", report.Percent(*t.Harvest))
		}
		parts = append(parts, part)
	}
	return "By topic: " + strings.Join(parts, ", ") + "; one alone with --target."
}
