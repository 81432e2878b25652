package eval

import "fossick/internal/report"

// Figures are the measures of one crawl. A nil pointer is an unknown value.
type Figures struct {
	Store          string    `json:"store"`
	Relevance      Kind      `json:"relevance"` // whose word the figures rest on
	Target         string    `json:"target"`
	Fetched        int       `json:"fetched"`
	Relevant       int       `json:"relevant"`
	Harvest        *float64  `json:"harvest"`
	HarvestCI      *Interval `json:"harvest_ci"`
	Unknown        *int      `json:"unknown"`             // fetched pages that the source knows nothing of
	JudgeTrained   *float64  `json:"judge_trained_on"`    // share of the pages that the judge was trained on; null without one, or when it cannot say
	JudgeOwn       string    `json:"judge_own,omitempty"` // what else the judge has to do with the crawl
	NearDuplicates uint64    `json:"near_duplicates"`     // not fetched pages: visited, and not stored
	ScriptOnly     uint64    `json:"script_only"`         // not fetched pages either: scripts make them
	Curve          []Point   `json:"curve"`
	Kept           *Cluster  `json:"kept"`
	HarvestBefore  *float64  `json:"harvest_before"` // of all pages fetched
	HarvestAfter   *float64  `json:"harvest_after"`  // of those that refine kept
	Targets        *int      `json:"targets"`        // relevant URLs of the truth
	Base           *float64  `json:"base"`           // their share of all that the truth names: the harvest of pages at random
	Recall         *float64  `json:"recall"`
	RecallKept     *float64  `json:"recall_kept"` // share of the truth's relevant URLs in the kept cluster
	RecallEstimate *Estimate `json:"recall_estimate"`
	SearchLength   *int      `json:"search_length"`
	SearchLength50 *int      `json:"search_length_50"`
	SearchLength90 *int      `json:"search_length_90"`
	Reach          Reach     `json:"reach"` // over hosts
	Drift          []Block   `json:"drift"` // null where the pages were not read

	Politeness *Politeness `json:"politeness"` // how the hosts were treated
	Ranked     *Ranked     `json:"ranked"`     // null before rank

	Topics map[string]TopicFigures `json:"topics,omitempty"` // by the crawl's own labels, where several share it
}

// Result is the figures of the first crawl, what several crawls say together,
// and the figures of each.
type Result struct {
	Figures
	Overlap []Point `json:"overlap"` // mean over the pairs; nil for one crawl
	// OverlapKept is that of the pages as finally classified: of the first n pages that refine
	// kept of each crawl; nil before refine.
	OverlapKept []Point   `json:"overlap_kept"`
	Stores      []Figures `json:"stores,omitempty"`
	Versus      *Versus   `json:"versus,omitempty"` // nil for one crawl
	Next        *Next     `json:"next"`             // nil before there is enough to go by
	// Settings are what held in the first crawl, given or by default.
	Settings map[string]string `json:"settings,omitempty"`
}

// Next is what the next pages of the first crawl would be worth, judged by its
// last ones. The crawler ends a crawl by the same estimate and says how it is
// made.
type Next struct {
	Pages   int     `json:"pages"` // the last ones, that it goes by
	Harvest float64 `json:"harvest"`
	Upper   float64 `json:"upper"` // end of the one-sided 99 % interval
}

// Measure computes every figure of the crawls, which all must be judged by the
// same source. Curves have a point every step pages; 0 chooses a step.
func Measure(crawls []*Crawl, step int) Result {
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

// overlapKept is the overlap of what refine kept of the crawls; nil where it has not seen all
// pages of each.
func overlapKept(crawls []*Crawl, step int) []Point {
	var kept [][]string
	for _, c := range crawls {
		k := c.Kept()
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

func measure(c *Crawl, step int) Figures {
	relevant := c.Relevant()
	n := len(relevant)
	if step <= 0 {
		step = report.NiceStep(n)
	}
	f := Figures{
		Store: c.Dir, Relevance: c.Source.Kind, Target: c.Source.Target,
		Fetched: n, Relevant: Harvest(relevant), Curve: harvestCurve(relevant, step),
		Politeness: c.Politeness, NearDuplicates: c.Counts.NearDuplicates, ScriptOnly: c.Counts.States[stateScriptOnly], Topics: c.topicFigures(),
	}
	f.Harvest, f.HarvestCI = share(f.Relevant, n), harvestCI(n, func(i int) bool { return relevant[i] })
	f.HarvestBefore = f.Harvest
	if c.Source.Kind != ByCrawl {
		unknown := 0
		for _, p := range c.Pages {
			if !p.Known {
				unknown++
			}
		}
		f.Unknown = &unknown
	}
	if kept := c.Kept(); kept != nil {
		cluster := Kept(kept, relevant)
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

// measureTruth adds what only a source with a count of its targets can tell.
func measureTruth(f *Figures, s Source, relevant []bool) {
	if s.Kind != ByTruth {
		return
	}
	targets := s.Targets
	f.Targets = &targets
	f.Base, f.Recall = share(targets, s.Known), share(f.Relevant, targets)
	if f.Kept != nil {
		f.RecallKept = share(f.Kept.Relevant, targets)
	}
	f.SearchLength = SearchLength(relevant, targets, 1)
	f.SearchLength50 = SearchLength(relevant, targets, 0.5)
	f.SearchLength90 = SearchLength(relevant, targets, 0.9)
}

func shortest(crawls [][]string) int {
	n := len(crawls[0])
	for _, c := range crawls {
		n = min(n, len(c))
	}
	return n
}
