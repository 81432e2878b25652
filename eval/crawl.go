package eval

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"fossick/internal/page"
	"fossick/internal/report"
	"fossick/store"
)

// Page is what the measures need of a stored page.
type Page struct {
	Number      uint64
	At          int64 // when it was fetched, Unix milliseconds
	URL         string
	Title       string
	Score       float64 // R, with which it was crawled
	Crawled     bool    // relevant by the crawl's own model or threshold
	Label       string  // by the crawl's model, "" without one
	Probability float64
	Refined     *store.Label // nil before refine
	Mark        *store.Mark  // nil where no person said anything, or several topics share the crawl
	Topics      uint64       // of those that share the crawl, bit by bit, which it is on
	Marked      uint64       // likewise, for which a person said whether it is
	Rank        *float64     // by its links; nil before rank

	Verdict // filled by the Judge methods of Crawl
}

// Crawl is a store's pages in the order of the crawl, and its totals.
type Crawl struct {
	Dir           string
	Info          store.Info
	Counts        store.Counts
	Pages         []Page
	Source        labelSource  // who filled the verdicts
	Trail         *crawlTrail  // nil until LoadTrail
	Probabilities bool         // the scores by which URLs waited are probabilities, as the crawl saw it
	Blocks        []driftBlock // nil until Drift
	Caps          []int        // pages a host by which to count the harvest as well; nil: see ReachOf

	Politeness *Politeness
	Ranking    *store.Ranking // nil before rank
}

// loadCrawl reads the pages of a store, without their bodies: some 300 bytes a page
// of memory. The verdicts are the crawl's own until another source judges.
func loadCrawl(ctx context.Context, s *store.Store) (*Crawl, error) {
	c := &Crawl{Dir: s.Dir(), Info: s.Info()}
	var err error
	if c.Counts, err = s.Counts(); err != nil {
		return nil, err
	}
	marks, err := marksOf(s)
	if err != nil {
		return nil, err
	}
	at := map[uint64]int{}
	for p, err := range s.Pages() {
		if err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		at[p.Number] = len(c.Pages)
		c.Pages = append(c.Pages, Page{
			Number: p.Number, At: p.At, URL: p.URL, Title: p.Title, Score: p.Score,
			Crawled: p.Relevant, Label: p.Label, Probability: p.Probability, Topics: topicsOf(p),
		})
		c.Pages[len(c.Pages)-1].heed(marks[p.ID])
	}
	for l, err := range s.Labels() {
		if err != nil {
			return nil, err
		}
		i, ok := at[l.Page]
		if !ok {
			return nil, fmt.Errorf("store %s: label of page %d, which it does not have; run refine again", s.Dir(), l.Page)
		}
		c.Pages[i].Refined = &l.Label
	}
	if err := c.loadRanks(s, at); err != nil {
		return nil, err
	}
	c.judgeByCrawl()
	c.Politeness, err = MeasurePoliteness(ctx, s)
	return c, err
}

// Relevant returns the verdicts in the order of the crawl.
func (c *Crawl) Relevant() []bool {
	r := make([]bool, len(c.Pages))
	for i := range c.Pages {
		r[i] = c.Pages[i].Relevant
	}
	return r
}

// Kept returns what refine kept, in the order of the crawl. It is nil when refine has
// not seen all pages: a part of a cluster has no quality.
func (c *Crawl) Kept() []bool {
	k := make([]bool, len(c.Pages))
	for i := range c.Pages {
		if c.Pages[i].Refined == nil {
			return nil
		}
		k[i] = c.Pages[i].Refined.Kept
	}
	if len(k) == 0 {
		return nil
	}
	return k
}

// URLs returns the pages' URLs in the order of the crawl.
func (c *Crawl) URLs() []string {
	u := make([]string, len(c.Pages))
	for i := range c.Pages {
		u[i] = c.Pages[i].URL
	}
	return u
}

func (c *Crawl) relevantURLs() []string {
	var u []string
	for i := range c.Pages {
		if c.Pages[i].Relevant {
			u = append(u, c.Pages[i].URL)
		}
	}
	return u
}

func host(raw string) string {
	if u, err := url.Parse(raw); err == nil && u.Host != "" {
		return u.Host
	}
	return raw
}

func marksOf(s *store.Store) (map[store.ID][]store.Mark, error) {
	marks := map[store.ID][]store.Mark{}
	for m, err := range s.Marks() {
		if err != nil {
			return nil, err
		}
		marks[m.ID] = append(marks[m.ID], m.Mark)
	}
	return marks, nil
}

func (p *Page) heed(marks []store.Mark) {
	for _, m := range marks {
		if m.Topic == 0 {
			p.Mark = &m
		} else {
			p.Marked |= 1 << (m.Topic - 1)
		}
	}
}

// marked is a label as a person's mark overrules it; what the model says goes on
// standing in its reason.
func (opt *RefineOptions) marked(l store.Label, m store.Mark, rest string) store.Label {
	why := l.Rule
	l = l.Marked(m, opt.Topic)
	if !m.OnTopic {
		l.Label = rest
	}
	l.Rule += "; the model: " + why
	return l
}

// judgeByMarks lets what people said of pages stand against what a model says. Where
// several topics share the crawl, that is what they said for the one that is judged.
func (c *Crawl) judgeByMarks() {
	topic := slices.Index(c.Info.Topics, c.Source.Target)
	for i := range c.Pages {
		p := &c.Pages[i]
		if p.Mark != nil {
			p.Relevant, p.Known = p.Mark.OnTopic, true
		}
		if topic >= 0 && p.Marked&(1<<topic) != 0 {
			p.Relevant, p.Known = p.Topics&(1<<topic) != 0, true
		}
	}
}

// Verdict is what a source of relevance says of one page.
type Verdict struct {
	Relevant bool
	Known    bool   // false when the source has nothing on the page; it is off topic then
	Class    string // the source's own label, "" when it has none
}

type sourceKind string

// The kinds of source, the best first: people's labels, a model that is not
// the crawler's, and the crawl's opinion of itself.
const (
	byLabels    sourceKind = "truth"
	byModel     sourceKind = "judge"
	byOwnLabels sourceKind = "crawl"
)

type labelSource struct {
	Kind    sourceKind
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
func (s *labelSource) judges() bool { return s.Kind != byOwnLabels && s.Own == "" }

// judgeByTruth takes the verdicts from people's labels by URL.
func (c *Crawl) judgeByTruth(from labelSource, of func(url string) Verdict) {
	c.Source = from
	for i := range c.Pages {
		c.Pages[i].Verdict = of(c.Pages[i].URL)
	}
}

// judgeByModel has a model read every page of the crawl's store, on workers goroutines. A page that
// cannot be parsed is off topic and not known. A person's mark overrules the model.
func (c *Crawl) judgeByModel(ctx context.Context, s *store.Store, from labelSource, of func(*page.Page) Verdict, workers int) error {
	c.Source = from
	i := 0
	judge := func(sp *store.Page, p *page.Page) Verdict {
		if p == nil {
			return Verdict{}
		}
		return of(p)
	}
	err := eachParsed(ctx, s, workers, judge, func(_ *store.Page, v Verdict) error {
		c.Pages[i].Verdict = v
		i++
		return nil
	})
	c.judgeByMarks()
	return err
}

func (c *Crawl) judgeByCrawl() {
	c.Source = labelSource{Kind: byOwnLabels, Name: "the crawl's own labels", Target: c.Info.Topic}
	for i := range c.Pages {
		p := &c.Pages[i]
		p.Verdict = Verdict{Relevant: p.Crawled, Known: true, Class: p.Label}
	}
}

// TopicFigures are one topic's, of several that share a crawl, by the crawl's own labels.
type TopicFigures struct {
	Fetched   int         `json:"fetched"` // all pages: each is judged for each topic
	Relevant  int         `json:"relevant"`
	Harvest   *float64    `json:"harvest"`
	HarvestCI *interval95 `json:"harvest_ci"`
	Paid      float64     `json:"paid"` // pages; see docs/topics.md
}

func topicsOf(p *store.Page) (on uint64) {
	for i, v := range p.Topics {
		if v.Relevant {
			on |= 1 << i
		}
	}
	return on
}

// judgeByTopic takes the labels that the crawl gave its pages for one of several topics;
// false where it has no such topic.
func (c *Crawl) judgeByTopic(name string) bool {
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
	if c.Source.Kind != byOwnLabels || len(c.Info.Topics) == 0 {
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

// together makes one crawl of those of several agents, whose verdicts are filled: their
// pages in the order of time. Crawls are in the order of their stores. What only a store's
// bodies and links tell, drift and the trail, it does not have.
func together(ctx context.Context, dir string, crawls []*Crawl, stores []*store.Store) (*Crawl, error) {
	all := *crawls[0]
	all.Dir, all.Counts, all.Pages, all.Trail, all.Blocks, all.Ranking = dir, store.Counts{}, nil, nil, nil, nil
	for _, c := range crawls {
		all.Counts = all.Counts.Plus(c.Counts)
		all.Pages = append(all.Pages, c.Pages...)
	}
	slices.SortStableFunc(all.Pages, func(a, b Page) int { return cmp.Compare(a.At, b.At) })
	for i := range all.Pages {
		all.Pages[i].Number, all.Pages[i].Rank = uint64(i+1), nil // ranks of one store mean nothing in another
	}
	var err error
	all.Politeness, err = MeasurePoliteness(ctx, stores...)
	return &all, err
}
