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
	"fossick/internal/stats"
	"fossick/store"
)

// judgedPage holds the fields of a stored page that the measures need.
type judgedPage struct {
	Number  uint64
	At      int64 // fetch time, Unix milliseconds
	URL     string
	Title   string
	Score   float64      // degree of relevance R at crawl time
	Crawled bool         // relevant by the crawl's own model or threshold
	Label   string       // by the crawl's model; "" without one
	Refined *store.Label // nil before refine
	Mark    *store.Mark  // nil when no person marked the page, or when several topics share the crawl
	Topics  uint64       // bit i: the page is on topic i of those that share the crawl
	Marked  uint64       // bit i: a person marked the page for topic i
	Rank    *float64     // link-based rank; nil before rank

	judgement
}

// judgedCrawl holds a store's pages in crawl order, and its totals.
type judgedCrawl struct {
	Dir           string
	Info          store.Info
	Counts        store.Counts
	Pages         []judgedPage
	Source        labelSource  // source of the verdicts
	Trail         *crawlTrail  // nil until loadTrail
	Probabilities bool         // the frontier's priorities are probabilities of relevance
	Blocks        []driftBlock // nil until Drift
	Caps          []int        // caps on pages per host for Reach.Capped; nil for the defaults of ReachOf

	Politeness *Politeness
	Ranking    *store.Ranking // nil before rank
}

// loadCrawl reads a store's pages without their bodies, at about 300 bytes of memory a page.
// The verdicts are the crawl's own until another source judges.
func loadCrawl(ctx context.Context, s *store.Store) (*judgedCrawl, error) {
	c := &judgedCrawl{Dir: s.Dir(), Info: s.Info()}
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
		c.Pages = append(c.Pages, judgedPage{
			Number: p.Number, At: p.At, URL: p.URL, Title: p.Title, Score: p.Score,
			Crawled: p.Relevant, Label: p.Label, Topics: topicsOf(p),
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

// relevant returns each page's verdict, in crawl order.
func (c *judgedCrawl) relevant() []bool {
	r := make([]bool, len(c.Pages))
	for i := range c.Pages {
		r[i] = c.Pages[i].Relevant
	}
	return r
}

// kept returns which pages refine kept, in crawl order; nil unless refine has labelled every page.
func (c *judgedCrawl) kept() []bool {
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

// URLs returns the pages' URLs in crawl order.
func (c *judgedCrawl) URLs() []string {
	u := make([]string, len(c.Pages))
	for i := range c.Pages {
		u[i] = c.Pages[i].URL
	}
	return u
}

func (c *judgedCrawl) relevantURLs() []string {
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
	for m, err := range s.Marks(false) {
		if err != nil {
			return nil, err
		}
		marks[m.ID] = append(marks[m.ID], m.Mark)
	}
	return marks, nil
}

func (p *judgedPage) heed(marks []store.Mark) {
	for _, m := range marks {
		if m.Topic == 0 {
			p.Mark = &m
		} else {
			p.Marked |= 1 << (m.Topic - 1)
		}
	}
}

// marked returns the label with a person's mark in force; its rule keeps the model's reason.
func (opt *RefineOptions) marked(l store.Label, m store.Mark, rest string) store.Label {
	why := l.Rule
	l = l.Marked(m, opt.Topic)
	if !m.OnTopic {
		l.Label = rest
	}
	l.Rule += "; the model: " + why
	return l
}

// judgeByMarks overrides verdicts with people's marks, for a shared crawl with those of its target.
func (c *judgedCrawl) judgeByMarks() {
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

// judgement is a source's judgement of one page.
type judgement struct {
	Relevant bool
	Known    bool   // false when the source does not cover the page, which then counts as off topic
	Class    string // the source's own label; "" without one
}

type sourceKind string

// The kinds of source, most trustworthy first: human labels, an independent model, the crawl's own.
const (
	byLabels    sourceKind = "truth"
	byModel     sourceKind = "judge"
	byOwnLabels sourceKind = "crawl"
)

type labelSource struct {
	Kind    sourceKind
	Name    string // file or model
	Target  string // label that counts as on topic
	Targets int    // relevant URLs that the source lists, fetched or not; 0 when unknown
	Known   int    // URLs that the source lists; 0 when unknown

	// For a judge: signs that it is not independent of the crawl.
	TrainedOn *float64 // share of the crawl's pages in its training set; nil when unknown
	Own       string   // its role in the crawl, such as "labelled the crawl"; "" for none
}

// judges reports whether the source is independent of the models that labelled and refined the crawl.
func (s *labelSource) judges() bool { return s.Kind != byOwnLabels && s.Own == "" }

func (c *judgedCrawl) judgeByTruth(from labelSource, of func(url string) judgement) {
	c.Source = from
	for i := range c.Pages {
		c.Pages[i].judgement = of(c.Pages[i].URL)
	}
}

// judgeByModel judges every stored page, on workers goroutines; people's marks overrule the model.
func (c *judgedCrawl) judgeByModel(ctx context.Context, s *store.Store, from labelSource, of func(*page.Page) judgement, workers int) error {
	c.Source = from
	i := 0
	judge := func(sp *store.Page, p *page.Page) judgement {
		if p == nil {
			return judgement{}
		}
		return of(p)
	}
	err := eachParsed(ctx, s, workers, judge, func(_ *store.Page, v judgement) error {
		c.Pages[i].judgement = v
		i++
		return nil
	})
	c.judgeByMarks()
	return err
}

func (c *judgedCrawl) judgeByCrawl() {
	c.Source = labelSource{Kind: byOwnLabels, Name: "the crawl's own labels", Target: c.Info.Topic}
	for i := range c.Pages {
		p := &c.Pages[i]
		p.judgement = judgement{Relevant: p.Crawled, Known: true, Class: p.Label}
	}
}

// topicFigures are the figures of one of several topics that share a crawl, by its own labels.
type topicFigures struct {
	Fetched   int         `json:"fetched"` // all pages: each is judged for every topic
	Relevant  int         `json:"relevant"`
	Harvest   *float64    `json:"harvest"`
	HarvestCI *interval95 `json:"harvest_ci"`
	Paid      float64     `json:"paid"` // budget spent, in pages; see docs/topics.md
}

func topicsOf(p *store.Page) (on uint64) {
	for i, v := range p.Topics {
		if v.Relevant {
			on |= 1 << i
		}
	}
	return on
}

// judgeByTopic uses the crawl's own labels for one of its topics; false for an unknown topic.
func (c *judgedCrawl) judgeByTopic(name string) bool {
	i := slices.Index(c.Info.Topics, name)
	if i < 0 {
		return false
	}
	c.Source.Target = name
	for k := range c.Pages {
		p := &c.Pages[k]
		p.judgement = judgement{Relevant: p.Topics&(1<<i) != 0, Known: true, Class: p.Label}
	}
	return true
}

// topicFigures returns the figures by topic; nil for a crawl of one topic.
func (c *judgedCrawl) topicFigures() map[string]topicFigures {
	if c.Source.Kind != byOwnLabels || len(c.Info.Topics) == 0 {
		return nil
	}
	all := map[string]topicFigures{}
	for i, name := range c.Info.Topics {
		f := topicFigures{Fetched: len(c.Pages)}
		on := func(k int) bool { return c.Pages[k].Topics&(1<<i) != 0 }
		for k := range c.Pages {
			if on(k) {
				f.Relevant++
			}
		}
		f.Harvest, f.HarvestCI = stats.Share(f.Relevant, f.Fetched), harvestCI(f.Fetched, on)
		if i < len(c.Counts.Topics) {
			f.Paid = c.Counts.Topics[i].Paid
		}
		all[name] = f
	}
	return all
}

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

// together merges the judged crawls of several agents into one, its pages ordered by fetch time.
// Drift and trail stay empty: they need one store's bodies and links.
func together(ctx context.Context, dir string, crawls []*judgedCrawl, stores []*store.Store) (*judgedCrawl, error) {
	all := *crawls[0]
	all.Dir, all.Counts, all.Pages, all.Trail, all.Blocks, all.Ranking = dir, store.Counts{}, nil, nil, nil, nil
	for _, c := range crawls {
		all.Counts = all.Counts.Plus(c.Counts)
		all.Pages = append(all.Pages, c.Pages...)
	}
	slices.SortStableFunc(all.Pages, func(a, b judgedPage) int { return cmp.Compare(a.At, b.At) })
	for i := range all.Pages {
		all.Pages[i].Number, all.Pages[i].Rank = uint64(i+1), nil // ranks of different stores cannot be compared
	}
	var err error
	all.Politeness, err = MeasurePoliteness(ctx, stores...)
	return &all, err
}
