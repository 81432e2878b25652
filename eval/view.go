package eval

import (
	"fmt"
	"path/filepath"

	"fossick/internal/report"
)

// view is what report.html is filled with.
type view struct {
	report.Head
	Plots       []report.Figure
	Stores      []Figures // a row each, when there are several
	Kept        *Cluster
	KeptRows    []keptRow
	Unjudged    string // why KeptRows say nothing; "" where they do
	Targets     *int
	Confusion   *confusion
	States      []countRow
	Codes       []countRow
	Requests    uint64
	Manners     *politenessView
	Drift       []driftRow
	Reach       Reach
	All         int
	AllRelevant int
	AllHarvest  *float64
	Hosts       []hostRow
	MoreHosts   int
	Pages       []pageList
	Refined     bool
}

func newView(r Report) (*view, error) {
	v := &view{
		Head:   report.Head{Title: titleOf(r.Result), Sentences: append(verdict(r.Result), Sentences(r.Result)...), Tiles: tiles(r.Result), Made: r.Made},
		Stores: r.Stores, Kept: r.Kept,
	}
	if r.Target != "" {
		v.Title += " for " + r.Target
	}
	if len(r.Crawls) == 0 {
		return v, nil
	}
	first := r.Crawls[0]
	v.Subtitle = subtitle(first)
	v.Made = append(v.Made, settings(first.Info, r.Settings)...)
	var err error
	if r.Fetched > 0 {
		if v.Plots, err = plots(r); err != nil {
			return nil, err
		}
	}
	v.Refined = r.Kept != nil
	v.KeptRows, v.Targets = keptRows(r.Figures), r.Targets
	if r.Kept != nil && !first.Source.judges() {
		v.Unjudged = unjudged
	}
	v.Confusion = confuse(first)
	v.States, v.Codes = states(first.Counts)
	v.Requests = first.Counts.Requests
	v.Drift, v.Reach = driftRows(r.Drift), r.Reach
	v.All, v.AllRelevant, v.AllHarvest = r.Fetched, r.Relevant, r.Harvest
	v.Manners = viewPoliteness(first.Politeness)
	v.Hosts, v.MoreHosts = hosts(first)
	v.Pages = append(pageLists(first), rankedLists(first)...)
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
func tiles(r Result) []report.Tile {
	var out []report.Tile
	tile := func(label, value, note string) {
		out = append(out, report.Tile{Label: label, Value: value, Note: note})
	}
	tile("Fetched", report.Number(r.Fetched), "pages stored")
	if r.Harvest != nil {
		by := map[Kind]string{ByTruth: "by the truth", ByJudge: "by the judge", ByCrawl: "by the crawl's own labels"}[r.Relevance]
		tile("Harvest", report.Percent(*r.Harvest), by+"; "+r.HarvestCI.words())
	}
	if r.Kept != nil && r.Kept.Precision == nil && r.Kept.Pages > 0 {
		tile("After refinement", report.Number(r.Kept.Pages), "pages kept; precision, recall and F1 need a truth or another judge")
	}
	if r.Kept != nil && r.Kept.Precision != nil {
		tile("After refinement", report.Percent(*r.Kept.Precision), "on topic, of "+report.Pages(r.Kept.Pages)+" kept; recall among fetched "+report.Share(r.Kept.Recall))
	}
	if r.Kept != nil && r.Kept.F1 != nil {
		tile("F1 of the cluster", fmt.Sprintf("%.2f", *r.Kept.F1), "of precision and recall among fetched")
	}
	if r.Recall != nil {
		note := "of " + report.Pages(*r.Targets) + " the truth names"
		if r.RecallKept != nil {
			note += "; " + report.Percent(*r.RecallKept) + " after refinement"
		}
		tile("Recall", report.Percent(*r.Recall), note)
	}
	if e := r.RecallEstimate; e != nil {
		note := "95 % interval " + report.Span(e.CI)
		if e.Upper() {
			note = "at most; capture–recapture " + report.Span(e.CI)
		}
		tile("Recall, estimated", report.Percent(e.Value), note)
	}
	return out
}

func plots(r Report) ([]report.Figure, error) {
	all := r.Stores
	if len(all) == 0 {
		all = []Figures{r.Figures}
	}
	names := crawlNames(r.Crawls)
	harvest := chart("on topic, of those fetched")
	for i, f := range all {
		l := line(names[i], f.Curve)
		if i == 0 {
			l.Band = band(f.Curve, r.Crawls[0].Relevant())
		}
		harvest.Lines = append(harvest.Lines, l)
	}
	harvest.Level, harvest.LevelName = r.Base, "pages at random"
	f, err := report.NewFigure("Harvest",
		"The share of the pages fetched so far that are on topic. The band is the 95 % interval of the first crawl.", harvest)
	if err != nil {
		return nil, err
	}
	out := []report.Figure{f}
	if src := r.Crawls[0].Source; src.Targets > 0 {
		c := chart("share found")
		c.Lines = recallLines(all, names, src.Targets)
		if f, err = report.NewFigure("Recall", "The share of the relevant pages named by the truth that were found so far.", c); err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	if len(r.Overlap) > 0 {
		c := chart("in common")
		c.Lines, c.Fit = []report.Line{line("overlap", r.Overlap)}, report.FitNone
		if len(r.OverlapKept) > 0 {
			c.Lines = append(c.Lines, line("of what refinement kept", r.OverlapKept))
		}
		if f, err = report.NewFigure("Overlap", "The share of the first n pages that two crawls have in common; with more than two, the mean of all pairs.", c); err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

// chart is a plot of shares against pages.
func chart(ylabel string) report.Chart {
	return report.Chart{XLabel: "pages fetched", YLabel: ylabel, Fit: report.FitTop}
}

func line(name string, curve []Point) report.Line {
	l := report.Line{Name: name}
	for _, p := range curve {
		l.Points = append(l.Points, report.Point{X: float64(p.Pages), Y: p.Share})
	}
	return l
}

func recallLines(all []Figures, names []string, targets int) []report.Line {
	var lines []report.Line
	for i, f := range all {
		l := line(names[i], f.Curve)
		for k := range l.Points {
			l.Points[k].Y *= l.Points[k].X / float64(targets)
		}
		lines = append(lines, l)
	}
	return lines
}

// band is the interval of each point's harvest.
func band(curve []Point, relevant []bool) [][2]float64 {
	b := make([][2]float64, len(curve))
	for i, p := range curve {
		b[i] = [2]float64{0, 1} // of so few pages nothing is known
		if ci := harvestCI(p.Pages, func(k int) bool { return relevant[k] }); ci != nil {
			b[i] = *ci
		}
	}
	return b
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

func titleOf(r Result) string {
	if r.Versus != nil {
		return "Crawls compared"
	}
	return "A crawl"
}
