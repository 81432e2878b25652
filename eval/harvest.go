package eval

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"fossick/internal/page"
	"fossick/internal/report"
	"fossick/internal/stats"
)

// Point is a point of a curve: a share after a number of pages. In JSON it is [pages, share].
type Point struct {
	Pages int
	Share float64
}

// MarshalJSON writes [pages, share].
func (p Point) MarshalJSON() ([]byte, error) {
	return json.Marshal([2]any{p.Pages, p.Share})
}

// UnmarshalJSON reads [pages, share].
func (p *Point) UnmarshalJSON(b []byte) error {
	var v [2]float64
	if err := json.Unmarshal(b, &v); err != nil {
		return fmt.Errorf("point of a curve: %w; want [pages, share]", err)
	}
	p.Pages, p.Share = int(v[0]), v[1]
	return nil
}

// countRelevant counts the relevant pages; the harvest ratio of paper A5 is n / len(relevant).
func countRelevant(relevant []bool) (n int) {
	for _, r := range relevant {
		if r {
			n++
		}
	}
	return n
}

// harvestCurve returns the harvest ratio every step pages and at the end. O(n).
func harvestCurve(relevant []bool, step int) []Point {
	return shares(len(relevant), step, func(i int) int {
		if relevant[i] {
			return 1
		}
		return 0
	})
}

// shares returns the share of the summed weights among the first step, 2·step, …, n items.
func shares(n, step int, weight func(i int) int) []Point {
	step = max(step, 1)
	points := make([]Point, 0, n/step+1)
	sum := 0
	for i := range n {
		sum += weight(i)
		if (i+1)%step == 0 || i+1 == n {
			points = append(points, Point{i + 1, float64(sum) / float64(i+1)})
		}
	}
	return points
}

// interval95 is a 95 % confidence interval; in JSON [lo, hi].
type interval95 [2]float64

// harvestCI is the harvest's 95 % interval; pages are no independent draws. nil below stats.Fewest.
func harvestCI(n int, relevant func(i int) bool) *interval95 {
	if n < stats.Fewest {
		return nil
	}
	ci := interval95(stats.InOrder(n, relevant))
	return &ci
}

func (ci *interval95) words() string {
	if ci == nil {
		return fmt.Sprintf("no interval: it needs %d pages", stats.Fewest)
	}
	return "95 % interval " + report.Span(*ci)
}

// urlOverlap returns the URL overlap of two crawls (paper A5), |A_n ∩ B_n| / n, where A_n are the
// first n URLs of a. It has a point every step pages and at the end of the shorter crawl. The URLs
// of a crawl are distinct and in crawl order.
//
// A URL enters the intersection when the later crawl reaches it, so one pass over both is enough:
// O(len(a) + len(b)).
func urlOverlap(a, b []string, step int) []Point {
	n := min(len(a), len(b))
	at := make(map[string]int, n)
	for i, url := range a[:n] {
		at[url] = i
	}
	enters := make([]int, n) // URLs that enter the intersection at each length
	for j, url := range b[:n] {
		if i, both := at[url]; both {
			enters[max(i, j)]++
		}
	}
	return shares(n, step, func(i int) int { return enters[i] })
}

// MeanOverlap averages urlOverlap over all pairs, up to the shortest crawl; nil for fewer than two.
func MeanOverlap(crawls [][]string, step int) []Point {
	if len(crawls) < 2 {
		return nil
	}
	n := len(crawls[0])
	for _, c := range crawls {
		n = min(n, len(c))
	}
	var mean []Point
	pairs := 0
	for i, a := range crawls {
		for _, b := range crawls[i+1:] {
			pairs++
			for k, p := range urlOverlap(a[:n], b[:n], step) {
				if pairs == 1 {
					mean = append(mean, p)
				} else {
					mean[k].Share += p.Share
				}
			}
		}
	}
	for k := range mean {
		mean[k].Share /= float64(pairs)
	}
	return mean
}

// searchLength returns how many pages the crawl fetched to find a share of the targets (paper A5),
// 0 < share ≤ 1. It is nil when the crawl ended earlier or there are no targets. targets counts
// the relevant URLs of the truth, fetched or not.
func searchLength(relevant []bool, targets int, share float64) *int {
	// The slack keeps rounding from raising 0.9 of 10 targets to 10.
	need := int(math.Ceil(share*float64(targets) - 1e-9))
	if targets <= 0 || need <= 0 {
		return nil
	}
	found := 0
	for i, r := range relevant {
		if !r {
			continue
		}
		if found++; found == need {
			n := i + 1
			return &n
		}
	}
	return nil
}

// cappedHarvest is the harvest over the first Cap pages of each host. It shows how much the harvest
// depends on a few hosts. A crawl run with that cap would differ: it would fetch elsewhere.
type cappedHarvest struct {
	Cap      int      `json:"cap"` // pages per host
	Pages    int      `json:"pages"`
	Relevant int      `json:"relevant"`
	Harvest  *float64 `json:"harvest"`
}

var defaultCaps = [...]int{1, 10, 100, 1000}

// Reach says over how many hosts and sites a crawl spread.
//
// An effective number is exp H with H = −Σ p ln p over the hosts' shares p of the pages (Hill
// 1973, order 1): that many equally large hosts are as diverse. It lies between 1 and the number
// of hosts, and is nil without pages.
type Reach struct {
	Hosts             int             `json:"hosts"`
	Relevant          int             `json:"relevant"`                 // hosts with a page on topic
	Sites             int             `json:"sites"`                    // registrable domains
	RelevantSites     int             `json:"relevant_sites"`           // sites with a page on topic
	Effective         *float64        `json:"effective_hosts"`          // of the pages fetched
	EffectiveRelevant *float64        `json:"effective_relevant_hosts"` // of the pages on topic
	Largest           *float64        `json:"largest"`                  // share of the relevant pages on the host with most of them
	Capped            []cappedHarvest `json:"capped"`                   // the given caps, or each default cap that excludes a page
}

// ReachOf measures the spread of pages in crawl order; relevant marks those on topic. caps are
// limits on pages per host, at least 1; nil tries 1, 10, 100 and 1,000.
func ReachOf(urls []string, relevant []bool, caps []int) Reach {
	asked := caps != nil
	if !asked {
		caps = defaultCaps[:]
	}
	capped := make([]cappedHarvest, len(caps))
	for k, limit := range caps {
		capped[k].Cap = limit
	}
	fetched, onTopic := map[string]int{}, map[string]int{}
	sites, sitesOnTopic := map[string]struct{}{}, map[string]struct{}{}
	for i, u := range urls {
		h, site := host(u), page.Site(u)
		fetched[h]++
		sites[site] = struct{}{}
		if relevant[i] {
			onTopic[h]++
			sitesOnTopic[site] = struct{}{}
		}
		for k := range capped {
			if fetched[h] <= capped[k].Cap {
				capped[k].add(relevant[i])
			}
		}
	}
	r := Reach{
		Hosts: len(fetched), Relevant: len(onTopic), Sites: len(sites), RelevantSites: len(sitesOnTopic),
		Effective: effective(fetched), EffectiveRelevant: effective(onTopic), Largest: largest(onTopic),
	}
	for _, c := range capped {
		if asked || c.Pages < len(urls) {
			c.Harvest = stats.Share(c.Relevant, c.Pages)
			r.Capped = append(r.Capped, c)
		}
	}
	return r
}

func (c *cappedHarvest) add(relevant bool) {
	c.Pages++
	if relevant {
		c.Relevant++
	}
}

func effective(pages map[string]int) *float64 {
	counts := slices.Sorted(maps.Values(pages)) // sorted: float sums depend on the order
	all := 0
	for _, n := range counts {
		all += n
	}
	if all == 0 {
		return nil
	}
	entropy := 0.0
	for _, n := range counts {
		p := float64(n) / float64(all)
		entropy -= p * math.Log(p)
	}
	e := math.Exp(entropy)
	return &e
}

func largest(pages map[string]int) *float64 {
	all, most := 0, 0
	for _, n := range pages {
		all += n
		most = max(most, n)
	}
	return stats.Share(most, all)
}

// keptCluster is the quality of the pages that refine kept, measured on the fetched pages. A ratio
// with denominator 0 is nil. All ratios are nil when the source is not independent of the model
// that refined.
type keptCluster struct {
	Pages     int      `json:"pages"`
	Relevant  int      `json:"relevant"` // of the kept pages
	Precision *float64 `json:"precision"`
	Recall    *float64 `json:"recall"`
	F1        *float64 `json:"f1"`
}

// clusterOf measures a cluster; kept[i] and relevant[i] are of page i.
//
//	precision = |kept ∩ relevant| / |kept|,  recall = |kept ∩ relevant| / |relevant|
//	F1 = 2 · |kept ∩ relevant| / (|kept| + |relevant|)
func clusterOf(kept, relevant []bool) keptCluster {
	var c keptCluster
	all := 0
	for i, k := range kept {
		if k {
			c.Pages++
		}
		if relevant[i] {
			all++
		}
		if k && relevant[i] {
			c.Relevant++
		}
	}
	c.Precision = stats.Share(c.Relevant, c.Pages)
	c.Recall = stats.Share(c.Relevant, all)
	c.F1 = stats.Share(2*c.Relevant, c.Pages+all)
	return c
}

type comparedCrawls struct {
	Union         int       `json:"union"`          // distinct pages
	UnionRelevant int       `json:"union_relevant"` // of these, on topic
	Common        int       `json:"common"`         // pages in every crawl
	CommonTopic   int       `json:"common_relevant"`
	TopicOverlap  *float64  `json:"topic_overlap"` // common_relevant / union_relevant (Jaccard)
	Recall        *float64  `json:"recall"`        // share of the truth that the union found
	Only          []onlyOne `json:"only"`
}

type onlyOne struct {
	Store    string `json:"store"`
	Pages    int    `json:"pages"`
	Relevant int    `json:"relevant"`
}

// versus compares crawls; targets is the number of relevant URLs in the truth, nil without one.
func versus(stores []string, urls, relevant [][]string, targets *int) *comparedCrawls {
	v := &comparedCrawls{Only: make([]onlyOne, len(stores))}
	pages, topic := owners(urls), owners(relevant)
	v.Union, v.UnionRelevant = len(pages), len(topic)
	for i, store := range stores {
		v.Only[i].Store = store
	}
	for _, of := range pages {
		if of.crawls == len(stores) {
			v.Common++
		}
		if of.crawls == 1 {
			v.Only[of.last].Pages++
		}
	}
	for _, of := range topic {
		if of.crawls == len(stores) {
			v.CommonTopic++
		}
		if of.crawls == 1 {
			v.Only[of.last].Relevant++
		}
	}
	v.TopicOverlap = stats.Share(v.CommonTopic, v.UnionRelevant)
	if targets != nil {
		v.Recall = stats.Share(v.UnionRelevant, *targets)
	}
	return v
}

type owner struct {
	crawls int
	last   int // index of the last crawl with the URL
}

func owners(urls [][]string) map[string]owner {
	of := map[string]owner{}
	for i, crawl := range urls {
		for _, url := range crawl {
			of[url] = owner{of[url].crawls + 1, i}
		}
	}
	return of
}

// versusSentences introduces several crawls: each one's harvest and recall, common and own pages.
func versusSentences(r Result) (out []string) {
	v := r.Versus
	if v == nil {
		return nil
	}
	for _, f := range r.Stores {
		if f.Fetched == 0 {
			out = append(out, f.Store+": no page fetched yet.")
			continue
		}
		s := fmt.Sprintf("%s: %s, %s on topic (%s, %s)", f.Store, report.Pages(f.Fetched), report.Number(f.Relevant), report.Percent(*f.Harvest), f.HarvestCI.words())
		switch {
		case f.Recall != nil:
			s += fmt.Sprintf(", %s of the truth found", report.Percent(*f.Recall))
		case f.RecallEstimate != nil:
			s += fmt.Sprintf(", an estimated %s of all pages on topic found", report.Percent(f.RecallEstimate.Value))
		}
		out = append(out, s+".")
	}
	found := ""
	if v.Recall != nil {
		found = fmt.Sprintf(", %s of the truth", report.Percent(*v.Recall))
	}
	out = append(out, fmt.Sprintf("Together: %s, %s on topic%s.", report.Pages(v.Union), report.Number(v.UnionRelevant), found))
	only := make([]string, len(v.Only))
	for i, o := range v.Only {
		only[i] = fmt.Sprintf("only %s has %s, %s on topic", o.Store, report.Pages(o.Pages), report.Number(o.Relevant))
	}
	all, any := "Both", "either"
	if len(v.Only) > 2 {
		all, any = "All", "any"
	}
	common := fmt.Sprintf("%s have %s, %s on topic", all, report.Pages(v.Common), report.Number(v.CommonTopic))
	if v.TopicOverlap != nil {
		common += fmt.Sprintf(" (%s of the on-topic pages of %s)", report.Percent(*v.TopicOverlap), any)
	}
	return append(out, common+"; "+strings.Join(only, "; ")+".", "The first crawl, "+r.Store+":")
}
