package eval

import (
	"fmt"
	"html/template"
	"path/filepath"
)

// view is what report.html is filled with.
type view struct {
	CSS       template.CSS
	Title     string
	Subtitle  string
	Sentences []string
	Tiles     []tile
	Plots     []plotView
	Stores    []Figures // a row each, when there are several
	Kept      *Cluster
	KeptRows  []keptRow
	Confusion *confusion
	States    []countRow
	Codes     []countRow
	Requests  uint64
	Hosts     []hostRow
	MoreHosts int
	Pages     []pageList
	Refined   bool
	Made      []Fact
}

type tile struct{ Label, Value, Note string }

type plotView struct {
	Title, Caption string
	SVG            template.HTML
	Legend         []legendItem
	Table          []series // the numbers, for who cannot see the picture
}

type legendItem struct {
	Class int // 1…maxSeries; 0 is the baseline
	Name  string
}

func newView(r Report) (*view, error) {
	v := &view{
		CSS: template.CSS(reportCSS), Sentences: Sentences(r.Result), Stores: r.Stores, Kept: r.Kept,
		Title: "A crawl", Tiles: tiles(r.Result), Made: r.Made,
	}
	if r.Target != "" {
		v.Title = "A crawl for " + r.Target
	}
	if len(r.Crawls) == 0 {
		return v, nil
	}
	first := r.Crawls[0]
	v.Subtitle = subtitle(first)
	v.Made = append(v.Made, settings(first.Info)...)
	var err error
	if r.Fetched > 0 {
		if v.Plots, err = plots(r); err != nil {
			return nil, err
		}
	}
	v.Refined = r.Kept != nil
	v.KeptRows = keptRows(r.Figures)
	v.Confusion = confuse(first)
	v.States, v.Codes = states(first.Counts)
	v.Requests = first.Counts.Requests
	v.Hosts, v.MoreHosts = hosts(first)
	v.Pages = pageLists(first)
	return v, nil
}

func subtitle(c *Crawl) string {
	by := map[Kind]string{
		ByTruth: "judged by the truth " + c.Source.Name,
		ByJudge: "judged by the model " + c.Source.Name,
		ByCrawl: "judged by " + c.Source.Name,
	}[c.Source.Kind]
	return c.Dir + ", " + by
}

// tiles are the headline figures.
func tiles(r Result) []tile {
	out := []tile{{"Fetched", number(r.Fetched), "pages stored"}}
	if r.Harvest != nil {
		out = append(out, tile{"Harvest", percent(*r.Harvest), "95 % interval " + span(*r.HarvestCI)})
	}
	if r.Kept != nil && r.Kept.Precision != nil {
		out = append(out, tile{"After refinement", percent(*r.Kept.Precision), "of " + pages(r.Kept.Pages) + " kept"})
	}
	if r.Kept != nil && r.Kept.F1 != nil {
		out = append(out, tile{"F1 of the cluster", fmt.Sprintf("%.2f", *r.Kept.F1), "recall among fetched " + optionalShare(r.Kept.Recall)})
	}
	if r.Recall != nil {
		out = append(out, tile{"Recall", percent(*r.Recall), "of " + pages(*r.Targets) + " the truth names"})
	}
	if e := r.RecallEstimate; e != nil {
		out = append(out, tile{"Recall, estimated", percent(e.Value), "at most; capture–recapture " + span(e.CI)})
	}
	return out
}

func plots(r Report) ([]plotView, error) {
	all := r.Stores
	if len(all) == 0 {
		all = []Figures{r.Figures}
	}
	names := crawlNames(r.Crawls)
	var lines []series
	for i, f := range all {
		s := series{Name: names[i], Points: f.Curve}
		if i == 0 {
			s.Band = band(f.Curve)
		}
		lines = append(lines, s)
	}
	harvest := chart{YLabel: "on topic, of those fetched", Series: lines, Zoom: true}
	src := r.Crawls[0].Source
	if src.Known > 0 {
		harvest.Baseline = share(src.Targets, src.Known)
	}
	out := []plotView{{
		Title:   "Harvest",
		Caption: "The share of the pages fetched so far that are on topic. The band is the 95 % interval of the first crawl.",
	}}
	charts := []chart{harvest}
	if src.Targets > 0 {
		out = append(out, plotView{Title: "Recall", Caption: "The share of the relevant pages named by the truth that were found so far."})
		charts = append(charts, chart{YLabel: "found, of those there are", Series: recallLines(all, names, src.Targets), Zoom: true})
	}
	if len(r.Overlap) > 0 {
		out = append(out, plotView{Title: "Overlap", Caption: "The share of the first n pages that two crawls have in common; with more than two, the mean of all pairs."})
		charts = append(charts, chart{YLabel: "in common", Series: []series{{Name: "overlap", Points: r.Overlap}}})
	}
	for i := range out {
		var err error
		if out[i].SVG, err = charts[i].svg(out[i].Title); err != nil {
			return nil, err
		}
		out[i].Table = charts[i].Series
		out[i].Legend = legend(charts[i])
	}
	return out, nil
}

func recallLines(all []Figures, names []string, targets int) []series {
	var lines []series
	for i, f := range all {
		s := series{Name: names[i]}
		for _, p := range f.Curve {
			s.Points = append(s.Points, Point{p.Pages, p.Share * float64(p.Pages) / float64(targets)})
		}
		lines = append(lines, s)
	}
	return lines
}

func band(curve []Point) []Interval {
	b := make([]Interval, len(curve))
	for i, p := range curve {
		b[i] = Wilson(int(p.Share*float64(p.Pages)+0.5), p.Pages)
	}
	return b
}

// legend names the lines; a single one needs no name.
func legend(c chart) []legendItem {
	var l []legendItem
	if len(c.Series) > 1 || c.Baseline != nil {
		for i, s := range c.Series {
			l = append(l, legendItem{i%maxSeries + 1, s.Name})
		}
	}
	if c.Baseline != nil {
		l = append(l, legendItem{0, "pages at random (" + percent(*c.Baseline) + ")"})
	}
	return l
}

// crawlNames are the folders' names, in full where these do not tell them apart.
func crawlNames(crawls []*Crawl) []string {
	names := make([]string, len(crawls))
	times := map[string]int{}
	for i, c := range crawls {
		names[i] = filepath.Base(filepath.Clean(c.Dir))
		times[names[i]]++
	}
	for i, c := range crawls {
		if times[names[i]] > 1 {
			names[i] = c.Dir
		}
	}
	return names
}
