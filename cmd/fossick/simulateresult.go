package main

import (
	_ "embed"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"text/tabwriter"

	"fossick/graph/simulate"
	"fossick/internal/printable"
	"fossick/report"
)

// simulateResult is what simulate prints (cli.md).
type simulateResult struct {
	Graph     string                 `json:"graph"`
	Nodes     int                    `json:"nodes"`
	Edges     int64                  `json:"edges"`
	Hosts     int                    `json:"hosts"`
	Sites     int                    `json:"sites"`
	Starts    int                    `json:"starts"` // a crawl
	StartSets int                    `json:"start_sets"`
	Pages     int                    `json:"max_pages"`
	Alike     bool                   `json:"alike"`
	Damping   float64                `json:"damping"`
	Topic     *string                `json:"topic"`    // null without one
	Relevant  *int                   `json:"relevant"` // pages on topic in the graph; likewise
	Orders    map[string]simulatedBy `json:"orders"`
	HTML      string                 `json:"html,omitempty"`

	polite  bool
	manners string   // in words
	order   []string // as asked for
	points  map[string][]simulate.MeanPoint
}

// simulatedBy are the crawls by one ordering: means over the start sets.
type simulatedBy struct {
	Pages          float64          `json:"pages"`            // crawled
	Short          int              `json:"short"`            // crawls that ran out of pages
	Curve          [][4]*float64    `json:"curve"`            // pages, pagerank, sites, tau
	CI             [][3]*[2]float64 `json:"ci"`               // of the last three, 95 %; null for one start set
	Harvest        [][2]*float64    `json:"harvest"`          // pages, share on topic; null without a topic
	HarvestCI      []*[2]float64    `json:"harvest_ci"`       // likewise
	Time           [][2]*float64    `json:"time"`             // pages, simulated seconds; null without --polite
	Seconds        float64          `json:"seconds"`          // of all crawls, without measuring
	EdgesPerSecond *float64         `json:"edges_per_second"` // likewise
}

func (r *simulateRun) result() *simulateResult {
	out := &simulateResult{
		Graph: r.Graph, Nodes: r.g.Nodes(), Edges: r.g.Edges(), Hosts: r.g.Hosts().Count(), Sites: r.g.Sites().Count(),
		Starts: len(r.sets[0]), StartSets: len(r.sets), Pages: r.sim.MaxPages, Alike: r.Alike, Damping: r.Damping,
		Orders: map[string]simulatedBy{}, points: map[string][]simulate.MeanPoint{},
	}
	out.polite, out.manners = r.Polite, mannersText(r.sim.Manners)
	if r.Topic != "" {
		out.Topic, out.Relevant = &r.Topic, &r.scores.Count
	}
	return out
}

// add takes the crawls of one ordering.
func (r *simulateResult) add(name string, crawls []*simulate.Crawled, points []simulate.MeanPoint) {
	var by simulatedBy
	edges := 0.0
	for _, c := range crawls {
		by.Pages += float64(c.Pages) / float64(len(crawls))
		by.Seconds += c.Seconds
		edges += float64(c.Edges)
		if c.Pages < r.Pages {
			by.Short++
		}
	}
	if by.Seconds > 0 {
		by.EdgesPerSecond = orNull(edges / by.Seconds)
	}
	for _, p := range points {
		by.Curve = append(by.Curve, [4]*float64{orNull(float64(p.Pages)), orNull(p.PageRank.Value), orNull(p.Sites.Value), orNull(p.Tau.Value)})
		by.CI = append(by.CI, [3]*[2]float64{p.PageRank.CI, p.Sites.CI, p.Tau.CI})
		if r.Topic != nil {
			by.Harvest = append(by.Harvest, [2]*float64{orNull(float64(p.Pages)), orNull(p.Harvest.Value)})
			by.HarvestCI = append(by.HarvestCI, p.Harvest.CI)
		}
		if r.polite {
			by.Time = append(by.Time, [2]*float64{orNull(float64(p.Pages)), orNull(p.Hours.Value * 3600)})
		}
	}
	r.Orders[name], r.points[name] = by, points
	r.order = append(r.order, name)
}

// print gives each ordering after a tenth, a half and all of the pages.
func (r *simulateResult) print(w io.Writer) {
	printable.Fprintf(w, "%s: %d pages, %d links, %d sites; %d crawls of at most %d pages an ordering, each from %s; 95 %%: intervals over these crawls\n\n",
		r.Graph, r.Nodes, r.Edges, r.Sites, r.StartSets, r.Pages, report.StartPages(r.Starts))
	r.table(w, "PageRank\t95 %\tsites\t95 %\ttau\t95 %\t", func(p simulate.MeanPoint) string {
		return fmt.Sprintf("%.3f\t%s\t%s\t%s\t%s\t%s\t", p.PageRank.Value, report.Interval(p.PageRank.CI),
			number(p.Sites.Value, "%.1f"), span(p.Sites.CI, "%.1f"), number(p.Tau.Value, "%.3f"), report.Interval(p.Tau.CI))
	})
	if r.Topic != nil {
		r.table(w, "harvest\t95 %\t", func(p simulate.MeanPoint) string {
			return fmt.Sprintf("%.3f\t%s\t", p.Harvest.Value, report.Interval(p.Harvest.CI))
		})
	}
	if r.polite {
		r.table(w, "hours\t95 %\t", func(p simulate.MeanPoint) string {
			return fmt.Sprintf("%.2f\t%s\t", p.Hours.Value, span(p.Hours.CI, "%.2f"))
		})
	}
	for _, name := range r.order {
		by := r.Orders[name]
		printable.Fprintf(w, "%s: %.0f pages a crawl", name, by.Pages)
		if by.Short > 0 {
			printable.Fprintf(w, " (%d of %d ran out of pages)", by.Short, r.StartSets)
		}
		if by.EdgesPerSecond != nil {
			printable.Fprintf(w, ", %.2f million links/s", *by.EdgesPerSecond/1e6)
		}
		io.WriteString(w, "\n")
	}
	if r.HTML != "" {
		printable.Fprintf(w, "report: %s\n", r.HTML)
	}
}

// table prints some columns of each ordering; a terminal of 80 columns has no room for
// all beside each other.
func (r *simulateResult) table(w io.Writer, columns string, cells func(simulate.MeanPoint) string) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	io.WriteString(t, "ordering\tpages\t"+columns+"\n")
	for _, name := range r.order {
		points := r.points[name]
		shown := -1
		for _, part := range []float64{0.1, 0.25, 0.5, 1} {
			i := max(0, int(math.Round(part*float64(len(points))))-1)
			if i == shown {
				continue
			}
			shown = i
			printable.Fprintf(t, "%s\t%d\t", name, points[i].Pages)
			io.WriteString(t, cells(points[i])+"\n")
		}
	}
	_ = t.Flush() // its only errors are w's
	io.WriteString(w, "\n")
}

func number(x float64, format string) string {
	if math.IsNaN(x) {
		return "–"
	}
	return fmt.Sprintf(format, x)
}

func span(ci *[2]float64, format string) string {
	if ci == nil {
		return "–"
	}
	return fmt.Sprintf(format+"–"+format, ci[0], ci[1])
}

//go:embed simulate.html
var simulateHTML string

// simulateView is what simulate.html is filled with.
type simulateView struct {
	report.Head
	Plots []report.Figure
}

// write writes the report.
func (r *simulateResult) write(a *app, path string) error {
	v := simulateView{Head: report.Head{
		Title:    "Orderings on " + filepath.Base(r.Graph),
		Subtitle: fmt.Sprintf("%s, %s links, %s sites", report.Pages(r.Nodes), report.Number(int(r.Edges)), report.Number(r.Sites)),
		Made: []report.Fact{
			{Name: "made by", Value: "fossick " + version},
			{Name: "random seed", Value: fmt.Sprint(a.seed)},
			{Name: "start pages", Value: fmt.Sprintf("%d sets of %d", r.StartSets, r.Starts)},
			{Name: "all links count alike", Value: fmt.Sprint(r.Alike)},
			{Name: "damping of PageRank", Value: fmt.Sprint(r.Damping)},
		},
	}}
	if r.polite {
		v.Made = append(v.Made, report.Fact{Name: "manners", Value: r.manners})
	}
	if r.Topic != nil {
		v.Made = append(v.Made, report.Fact{Name: "topic", Value: fmt.Sprintf("%s, %s", *r.Topic, report.Pages(*r.Relevant))})
	}
	for _, name := range r.order {
		p := r.points[name][len(r.points[name])-1]
		note := "of all PageRank in the end"
		if p.PageRank.CI != nil {
			note += ", 95 % interval " + report.Span(*p.PageRank.CI)
		}
		v.Tiles = append(v.Tiles, report.Tile{Label: name, Value: report.Percent(p.PageRank.Value), Note: note})
	}
	var err error
	if v.Plots, err = r.plots(); err != nil {
		return err
	}
	return writePage(path, func(w io.Writer) error { return report.Write(w, simulateHTML, v) })
}
