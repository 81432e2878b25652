package lab

import (
	"time"

	"fossick/eval"
	"fossick/internal/stats"
)

// policyFigures are the results of one policy; shares are in [0,1].
type policyFigures struct {
	Policy  string
	Oracle  bool
	Harvest stats.Mean
	// Fresh is the harvest ratio without training pages.
	Fresh  stats.Mean
	Recall stats.Mean // relevant pages fetched / relevant pages in the corpus
	// HarvestArea and RecallArea are areas under the curves: means of harvest and recall after 1, …, M pages.
	HarvestArea stats.Mean
	RecallArea  stats.Mean
	Fetched     stats.Mean // pages
	Seconds     stats.Mean // until the last page, on the virtual clock
	Trained     stats.Mean // training pages fetched
	Spread      spreadOfHosts
	Curve       []curvePoint
	RecallCurve []curvePoint
	TimeCurve   []timePoint  // only with manners
	Overlap     []eval.Point // of crawls from different start sets, mean over all pairs
	Short       int          // crawls whose frontier emptied before M pages
	Sets        []float64    // harvest, by start set
}

type curvePoint struct {
	Pages int
	stats.Mean
}

// measureCrawls summarises a policy's crawls up to limit pages each; curves have a point every step pages. A
// crawl whose frontier emptied keeps its last values.
func measureCrawls(policy crawlPolicy, crawls []*policyCrawl, d *startDraw, limit, step int) policyFigures {
	f := policyFigures{Policy: policy.Name, Oracle: policy.Oracle}
	found := make([][]int, len(crawls)) // found[i][n]: relevant among the first n pages of crawl i
	var harvest, fresh, recall, harvestArea, recallArea, fetched, trained, seconds []float64
	for i, c := range crawls {
		found[i] = cumulate(c.Relevant, limit)
		n := len(found[i]) - 1
		training, trainingOn := 0, 0
		for k := range n {
			if c.Training[k] {
				training++
				trainingOn += found[i][k+1] - found[i][k]
			}
		}
		if n < limit {
			f.Short++
		}
		last := found[i][n]
		areaOfHarvest, areaOfRecall := areas(found[i], limit, d.Targets)
		harvest, fresh, recall = append(harvest, ratio(last, n)), append(fresh, ratio(last-trainingOn, n-training)), append(recall, ratio(last, d.Targets))
		harvestArea, recallArea = append(harvestArea, areaOfHarvest), append(recallArea, areaOfRecall)
		fetched, trained, seconds = append(fetched, float64(n)), append(trained, float64(training)), append(seconds, c.took(limit).Seconds())
	}
	f.Sets = harvest
	f.Harvest, f.Fresh, f.Recall = stats.MeanOf(harvest), stats.MeanOf(fresh), stats.MeanOf(recall)
	f.HarvestArea, f.RecallArea = stats.MeanOf(harvestArea), stats.MeanOf(recallArea)
	f.Fetched, f.Trained, f.Seconds = stats.MeanOf(fetched), stats.MeanOf(trained), stats.MeanOf(seconds)
	f.Spread = spread(crawls, limit)
	f.curves(found, limit, step, d.Targets)
	f.Overlap = overlaps(crawls, limit, step)
	return f
}

func (f *policyFigures) curves(found [][]int, limit, step, targets int) {
	harvest, recall := make([]float64, len(found)), make([]float64, len(found))
	for n := step; ; n += step {
		n = min(n, limit)
		for i, c := range found {
			k := min(n, len(c)-1)
			harvest[i], recall[i] = ratio(c[k], k), ratio(c[k], targets)
		}
		f.Curve = append(f.Curve, curvePoint{n, stats.MeanOf(harvest)})
		f.RecallCurve = append(f.RecallCurve, curvePoint{n, stats.MeanOf(recall)})
		if n == limit {
			return
		}
	}
}

// cumulate returns the number of hits among the first 0, 1, …, min(limit, len(hit)) pages.
func cumulate(hit []bool, limit int) []int {
	sum := make([]int, 1, len(hit)+1)
	for i, h := range hit {
		if i == limit {
			break
		}
		n := sum[i]
		if h {
			n++
		}
		sum = append(sum, n)
	}
	return sum
}

// areas returns the mean harvest and the mean recall over 1, …, limit pages.
func areas(found []int, limit, targets int) (harvest, recall float64) {
	for n := 1; n <= limit; n++ {
		k := min(n, len(found)-1)
		harvest += ratio(found[k], k)
		recall += ratio(found[k], targets)
	}
	return harvest / float64(limit), recall / float64(limit)
}

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// overlaps returns |A_n ∩ B_n| / n, the mean over all pairs of crawls (paper A5).
func overlaps(crawls []*policyCrawl, limit, step int) []eval.Point {
	if len(crawls) < 2 {
		return nil
	}
	urls := make([][]string, len(crawls))
	for i, c := range crawls {
		urls[i] = c.URLs[:min(limit, len(c.URLs))]
	}
	return eval.MeanOverlap(urls, step)
}

// spreadOfHosts says over how many hosts a policy's crawls spread (means over start sets); see eval.Reach.
type spreadOfHosts struct {
	Hosts             float64         `json:"hosts"`
	Sites             float64         `json:"sites"`
	Relevant          float64         `json:"relevant_hosts"`  // hosts with a page on topic
	Effective         float64         `json:"effective_hosts"` // of the pages fetched
	EffectiveRelevant float64         `json:"effective_relevant_hosts"`
	Capped            []cappedHarvest `json:"capped"`
}

// cappedHarvest is the harvest over the first Cap pages of each host.
type cappedHarvest struct {
	Cap     int         `json:"cap"`
	Pages   float64     `json:"pages"` // within the cap
	Harvest float64     `json:"harvest"`
	CI      *[2]float64 `json:"ci"`
}

var caps = [...]int{1, 10, 100}

func spread(crawls []*policyCrawl, limit int) spreadOfHosts {
	var s spreadOfHosts
	reach := make([]eval.Reach, len(crawls))
	for i, c := range crawls {
		n := min(limit, len(c.URLs))
		reach[i] = eval.ReachOf(c.URLs[:n], c.Relevant[:n], caps[:])
	}
	over := func(of func(r eval.Reach) float64) stats.Mean {
		x := make([]float64, len(reach))
		for i, r := range reach {
			x[i] = of(r)
		}
		return stats.MeanOf(x)
	}
	s.Hosts = over(func(r eval.Reach) float64 { return float64(r.Hosts) }).Value
	s.Relevant = over(func(r eval.Reach) float64 { return float64(r.Relevant) }).Value
	s.Sites = over(func(r eval.Reach) float64 { return float64(r.Sites) }).Value
	s.Effective = over(func(r eval.Reach) float64 { return orZero(r.Effective) }).Value
	s.EffectiveRelevant = over(func(r eval.Reach) float64 { return orZero(r.EffectiveRelevant) }).Value
	for k, n := range caps {
		pages := over(func(r eval.Reach) float64 { return float64(r.Capped[k].Pages) })
		harvest := over(func(r eval.Reach) float64 { return orZero(r.Capped[k].Harvest) })
		s.Capped = append(s.Capped, cappedHarvest{n, pages.Value, harvest.Value, harvest.CI})
	}
	return s
}

func orZero(x *float64) float64 {
	if x == nil {
		return 0
	}
	return *x
}

func (s spreadOfHosts) harvestAt(pages int) float64 {
	for _, c := range s.Capped {
		if c.Cap == pages {
			return c.Harvest
		}
	}
	return 0
}

type timePoint struct {
	Seconds  float64
	Pages    float64
	Relevant float64
}

const timeSteps = 50

// took returns the virtual time at which a crawl had pages pages, or at which it ended.
func (c *policyCrawl) took(pages int) time.Duration {
	if pages >= len(c.URLs) {
		return c.Took
	}
	return c.At[pages-1]
}

// timeCurves returns each policy's curve over the time of the longest crawl; ended crawls keep their last value.
func timeCurves(crawls [][]*policyCrawl) [][]timePoint {
	var longest time.Duration
	for _, policy := range crawls {
		for _, c := range policy {
			longest = max(longest, c.Took)
		}
	}
	curves := make([][]timePoint, len(crawls))
	for i, policy := range crawls {
		for step := 1; step <= timeSteps; step++ {
			at := longest * time.Duration(step) / timeSteps
			p := timePoint{Seconds: at.Seconds()}
			for _, c := range policy {
				for k, there := range c.At {
					if there > at {
						continue
					}
					p.Pages += 1 / float64(len(policy))
					if c.Relevant[k] {
						p.Relevant += 1 / float64(len(policy))
					}
				}
			}
			curves[i] = append(curves[i], p)
		}
	}
	return curves
}

func rows(curve []timePoint) [][3]float64 {
	var out [][3]float64
	for _, p := range curve {
		out = append(out, [3]float64{p.Seconds, p.Pages, p.Relevant})
	}
	return out
}
