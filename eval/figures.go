package eval

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"fossick/crawler"
	"fossick/internal/report"
	"fossick/internal/stats"
	"fossick/store"
)

// Figures are the measures of one crawl; a nil pointer is an unknown value.
type Figures struct {
	Store          string          `json:"store"`
	Relevance      sourceKind      `json:"relevance"` // source of the verdicts
	Target         string          `json:"target"`
	Fetched        int             `json:"fetched"`
	Relevant       int             `json:"relevant"`
	Harvest        *float64        `json:"harvest"`
	HarvestCI      *interval95     `json:"harvest_ci"`
	Unknown        *int            `json:"unknown"`             // fetched pages that the source does not cover
	JudgeTrained   *float64        `json:"judge_trained_on"`    // share of the pages in the judge's training set; null without a judge, or when unknown
	JudgeOwn       string          `json:"judge_own,omitempty"` // the judge's role in the crawl
	NearDuplicates uint64          `json:"near_duplicates"`     // visited but not stored, so not in Fetched
	ScriptOnly     uint64          `json:"script_only"`         // likewise: pages without text until scripts run
	Curve          []Point         `json:"curve"`
	Kept           *keptCluster    `json:"kept"`
	HarvestBefore  *float64        `json:"harvest_before"` // of all pages fetched
	HarvestAfter   *float64        `json:"harvest_after"`  // of those that refine kept
	Targets        *int            `json:"targets"`        // relevant URLs in the truth
	Base           *float64        `json:"base"`           // relevant share of the truth: the harvest of random pages
	Recall         *float64        `json:"recall"`
	RecallKept     *float64        `json:"recall_kept"` // share of the truth's relevant URLs in the kept cluster
	RecallEstimate *recallEstimate `json:"recall_estimate"`
	SearchLength   *int            `json:"search_length"`
	SearchLength50 *int            `json:"search_length_50"`
	SearchLength90 *int            `json:"search_length_90"`
	Reach          Reach           `json:"reach"` // over hosts
	Drift          []driftBlock    `json:"drift"` // null when no pages were read

	Politeness *Politeness  `json:"politeness"`
	Ranked     *rankedPages `json:"ranked"` // null before rank

	Topics map[string]topicFigures `json:"topics,omitempty"` // by the crawl's own labels, where several share it
}

// Result holds the first crawl's figures, the comparison of several crawls, and each one's figures.
type Result struct {
	Figures
	Overlap []Point `json:"overlap"` // mean over the pairs; nil for one crawl
	// OverlapKept is the mean overlap of the pages that refine kept; nil before refine.
	OverlapKept []Point           `json:"overlap_kept"`
	Stores      []Figures         `json:"stores,omitempty"`
	Versus      *comparedCrawls   `json:"versus,omitempty"` // nil for one crawl
	Next        *NextPages        `json:"next"`             // nil when the crawl is too short
	Settings    map[string]string `json:"settings,omitempty"`
}

// NextPages estimates the harvest of the next pages from the last ones, as --min-harvest does.
type NextPages struct {
	Pages   int     `json:"pages"` // number of last pages used
	Harvest float64 `json:"harvest"`
	Upper   float64 `json:"upper"` // of the one-sided 99 % interval
}

// NextPagesOf returns a crawl's estimate; nil for a crawl without pages.
func NextPagesOf(m crawler.Marginal) *NextPages {
	if m.Pages == 0 {
		return nil
	}
	return &NextPages{m.Pages, m.Harvest, m.Upper}
}

// measureAll computes all figures of crawls that one source judged. Curves have a point every step
// pages; 0 chooses a step.
func measureAll(crawls []*judgedCrawl, step int) Result {
	var urls, relevant [][]string
	stores := make([]Figures, len(crawls))
	for i, c := range crawls {
		stores[i] = measure(c, step)
		urls = append(urls, c.URLs())
		relevant = append(relevant, c.relevantURLs())
	}
	var r Result
	for i, e := range estimateRecall(crawls, relevant) {
		stores[i].RecallEstimate = e
	}
	if len(crawls) > 0 {
		r.Figures = stores[0]
	}
	if len(crawls) > 1 {
		r.Stores = stores
		if step <= 0 {
			step = report.NiceStep(shortest(urls))
		}
		r.Overlap = MeanOverlap(urls, step)
		r.OverlapKept = overlapKept(crawls, step)
		names := make([]string, len(crawls))
		for i, c := range crawls {
			names[i] = c.Dir
		}
		r.Versus = versus(names, urls, relevant, r.Targets)
	}
	return r
}

// overlapKept returns the mean overlap of the kept pages; nil unless refine labelled every page.
func overlapKept(crawls []*judgedCrawl, step int) []Point {
	var kept [][]string
	for _, c := range crawls {
		k := c.kept()
		if k == nil {
			return nil
		}
		var urls []string
		for i, url := range c.URLs() {
			if k[i] {
				urls = append(urls, url)
			}
		}
		kept = append(kept, urls)
	}
	return MeanOverlap(kept, step)
}

func measure(c *judgedCrawl, step int) Figures {
	relevant := c.relevant()
	n := len(relevant)
	if step <= 0 {
		step = report.NiceStep(n)
	}
	f := Figures{
		Store: c.Dir, Relevance: c.Source.Kind, Target: c.Source.Target,
		Fetched: n, Relevant: countRelevant(relevant), Curve: harvestCurve(relevant, step),
		Politeness: c.Politeness, NearDuplicates: c.Counts.NearDuplicates, ScriptOnly: c.Counts.States[stateScriptOnly], Topics: c.topicFigures(),
	}
	f.Harvest, f.HarvestCI = stats.Share(f.Relevant, n), harvestCI(n, func(i int) bool { return relevant[i] })
	f.HarvestBefore = f.Harvest
	if c.Source.Kind != byOwnLabels {
		unknown := 0
		for _, p := range c.Pages {
			if !p.Known {
				unknown++
			}
		}
		f.Unknown = &unknown
	}
	if kept := c.kept(); kept != nil {
		cluster := clusterOf(kept, relevant)
		if !c.Source.judges() {
			cluster.Precision, cluster.Recall, cluster.F1 = nil, nil, nil
		}
		f.Kept, f.HarvestAfter = &cluster, cluster.Precision
	}
	f.JudgeTrained, f.JudgeOwn = c.Source.TrainedOn, c.Source.Own
	measureTruth(&f, c.Source, relevant)
	f.Reach, f.Drift = ReachOf(c.URLs(), relevant, c.Caps), c.Blocks
	f.Ranked = rankedOf(c)
	return f
}

func measureTruth(f *Figures, s labelSource, relevant []bool) {
	if s.Kind != byLabels {
		return
	}
	targets := s.Targets
	f.Targets = &targets
	f.Base, f.Recall = stats.Share(targets, s.Known), stats.Share(f.Relevant, targets)
	if f.Kept != nil {
		f.RecallKept = stats.Share(f.Kept.Relevant, targets)
	}
	f.SearchLength = searchLength(relevant, targets, 1)
	f.SearchLength50 = searchLength(relevant, targets, 0.5)
	f.SearchLength90 = searchLength(relevant, targets, 0.9)
}

func shortest(crawls [][]string) int {
	n := len(crawls[0])
	for _, c := range crawls {
		n = min(n, len(c))
	}
	return n
}

// rankedPages relates the last link-based ranking to relevance.
type rankedPages struct {
	Method   string  `json:"method"`
	Personal string  `json:"personal"`       // label or file of the teleport pages; "" for all
	Pages    int     `json:"pages"`          // with a rank
	Share    float64 `json:"share_on_topic"` // the relevant pages' share of these pages' total rank
	Top      []Point `json:"top"`            // share on topic among the top n
}

// loadRanks sets the pages' ranks; at maps a page number to its index.
func (c *judgedCrawl) loadRanks(s *store.Store, at map[uint64]int) error {
	var err error
	if c.Ranking, err = s.Ranks().Last(); err != nil || c.Ranking == nil {
		return err
	}
	for r, err := range s.Ranks().All() {
		if err != nil {
			return err
		}
		i, ok := at[r.Page]
		if !ok {
			return fmt.Errorf("store %s: rank of page %d, which it does not have; run rank again", s.Dir(), r.Page)
		}
		c.Pages[i].Rank = &r.Score
	}
	return nil
}

func rankedOf(c *judgedCrawl) *rankedPages {
	if c.Ranking == nil {
		return nil
	}
	r := &rankedPages{Method: c.Ranking.Method, Personal: c.Ranking.Personal}
	var pages []*judgedPage
	for i := range c.Pages {
		if c.Pages[i].Rank != nil {
			pages = append(pages, &c.Pages[i])
		}
	}
	slices.SortStableFunc(pages, func(a, b *judgedPage) int { return cmp.Compare(*b.Rank, *a.Rank) })
	if r.Pages = len(pages); r.Pages == 0 {
		return r
	}
	relevant := make([]bool, len(pages))
	all, held := 0.0, 0.0
	for i, p := range pages {
		relevant[i] = p.Relevant
		if all += *p.Rank; p.Relevant {
			held += *p.Rank
		}
	}
	if all > 0 {
		r.Share = held / all
	}
	for _, n := range []int{10, 30, 100, 300, 1000, 3000, 10_000} {
		if n <= len(pages) {
			r.Top = append(r.Top, Point{n, float64(countRelevant(relevant[:n])) / float64(n)})
		}
	}
	return r
}

func rankedSentence(f Figures) string {
	if f.Ranked == nil || len(f.Ranked.Top) == 0 {
		return ""
	}
	last := f.Ranked.Top[min(2, len(f.Ranked.Top)-1)]
	return fmt.Sprintf("Of the %s that %s ranks highest, %s are %s; pages on topic hold %s of the rank of all pages.",
		report.Pages(last.Pages), wayName(f.Ranked.Method), report.Percent(last.Share), about(f.Target), report.Percent(f.Ranked.Share))
}

func wayName(method string) string {
	switch method {
	case "hits":
		return "HITS (authority)"
	case "blockrank-short":
		return "BlockRank"
	}
	return "PageRank" // the other methods converge to PageRank
}

// rankedLists returns the top-ranked pages, of all labels and of the most frequent ones.
func rankedLists(c *judgedCrawl) []pageList {
	if c.Ranking == nil {
		return nil
	}
	label := func(p *judgedPage) string {
		if p.Refined != nil {
			return p.Refined.Label
		}
		return p.Label
	}
	count := map[string]int{}
	for i := range c.Pages {
		if p := &c.Pages[i]; p.Rank != nil && label(p) != "" {
			count[label(p)]++
		}
	}
	labels := slices.Sorted(maps.Keys(count))
	slices.SortStableFunc(labels, func(a, b string) int { return count[b] - count[a] })
	times := func(p *judgedPage) float64 { return *p.Rank * float64(c.Ranking.Nodes) }
	way := wayName(c.Ranking.Method)
	note := fmt.Sprintf("By their links: %s, in multiples of the mean of the %s URLs ranked", way, report.Number(c.Ranking.Nodes))
	if c.Ranking.Personal != "" {
		note += ", surfers starting anew at " + c.Ranking.Personal
	}
	lists := []pageList{{"Highest " + way, note + ".", pick(c, func(p *judgedPage) bool { return p.Rank != nil }, times, true)}}
	const mostLabels = 6
	for _, l := range labels[:min(mostLabels, len(labels))] {
		rows := pick(c, func(p *judgedPage) bool { return p.Rank != nil && label(p) == l }, times, true)
		lists = append(lists, pageList{fmt.Sprintf("Highest %s of %s", way, l), fmt.Sprintf("Of the %s with this label.", report.Pages(count[l])), rows[:min(10, len(rows))]})
	}
	return lists
}
