package eval

import (
	"context"

	"fossick/internal/page"
	"fossick/store"
)

// Verdict is what a source of relevance says of one page.
type Verdict struct {
	Relevant bool
	Known    bool   // false when the source has nothing on the page; it is off topic then
	Class    string // the source's own label, "" when it has none
}

// Kind is the kind of a source of relevance.
type Kind string

// The kinds of source, the best first: people's labels, a model that is not
// the crawler's, and the crawl's opinion of itself.
const (
	ByTruth Kind = "truth"
	ByJudge Kind = "judge"
	ByCrawl Kind = "crawl"
)

// Source says where the verdicts come from.
type Source struct {
	Kind    Kind
	Name    string // file or model
	Target  string // the label that is the topic
	Targets int    // relevant URLs that the source names, fetched or not; 0 when it cannot say
	Known   int    // URLs that the source names at all; 0 when it cannot say

	// Of a judge: why it is no stranger to the case.
	TrainedOn *float64 // share of the pages that it was trained on; nil when it cannot say
	Own       string   // what it has done here, as "labelled the crawl"; "" is nothing
}

// judges says whether the source is another than the model that labelled or refined the crawl:
// only then does it tell how right that model was.
func (s *Source) judges() bool { return s.Kind != ByCrawl && s.Own == "" }

// Truth is people's labels by URL. Of must be safe to call for any URL.
type Truth struct {
	Name    string
	Target  string
	Targets int // relevant URLs
	Known   int // all URLs
	Of      func(url string) Verdict
}

// JudgeByTruth takes the verdicts from a truth.
func (c *Crawl) JudgeByTruth(t *Truth) {
	c.Source = Source{Kind: ByTruth, Name: t.Name, Target: t.Target, Targets: t.Targets, Known: t.Known}
	for i := range c.Pages {
		c.Pages[i].Verdict = t.Of(c.Pages[i].URL)
	}
}

// Judge is a model other than the crawler's. Of must be safe for concurrent use.
type Judge struct {
	Name   string
	Target string
	Of     func(p *page.Page) Verdict
}

// JudgeByModel has a model read every page of the crawl's store, on workers
// goroutines. A page that cannot be parsed is off topic and not known. Pages that a
// person marked are what the mark says.
func (c *Crawl) JudgeByModel(ctx context.Context, s *store.Store, j *Judge, workers int) error {
	c.Source = Source{Kind: ByJudge, Name: j.Name, Target: j.Target}
	i := 0
	judge := func(sp *store.Page, p *page.Page) Verdict {
		if p == nil {
			return Verdict{}
		}
		return j.Of(p)
	}
	err := eachParsed(ctx, s, workers, judge, func(_ *store.Page, v Verdict) error {
		c.Pages[i].Verdict = v
		i++
		return nil
	})
	c.judgeByMarks()
	return err
}

// judgeByCrawl takes the labels that the crawl gave its pages.
func (c *Crawl) judgeByCrawl() {
	c.Source = Source{Kind: ByCrawl, Name: "the crawl's own labels", Target: c.Info.Topic}
	for i := range c.Pages {
		p := &c.Pages[i]
		p.Verdict = Verdict{Relevant: p.Crawled, Known: true, Class: p.Label}
	}
}
