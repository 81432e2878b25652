package lab

import (
	_ "embed" // report.html
	"fmt"
	"io"
	"math"
	"path/filepath"
	"text/tabwriter"

	"fossick/internal/cli"
	"fossick/internal/report"
	"fossick/internal/stats"
)

type orderings struct {
	Graph     string                    `json:"graph"`
	Nodes     int                       `json:"nodes"`
	Edges     int64                     `json:"edges"`
	Hosts     int                       `json:"hosts"`
	Sites     int                       `json:"sites"`
	Starts    int                       `json:"starts"` // start pages per crawl
	StartSets int                       `json:"start_sets"`
	Pages     int                       `json:"max_pages"`
	Alike     bool                      `json:"alike"`
	Damping   float64                   `json:"damping"`
	Topic     *string                   `json:"topic"`    // null without one
	Relevant  *int                      `json:"relevant"` // pages on topic in the graph; null without a topic
	Orders    map[string]orderingResult `json:"orders"`
	HTML      string                    `json:"html,omitempty"`

	manners *GraphManners // nil without --polite
	order   []string      // in the order requested
	points  map[string][]graphMean
}

// orderingResult summarises the crawls by one ordering, as means over start sets.
type orderingResult struct {
	Pages          float64          `json:"pages"`            // per crawl
	Short          int              `json:"short"`            // crawls that ran out of pages
	Curve          [][4]*float64    `json:"curve"`            // pages, pagerank, sites, tau
	CI             [][3]*[2]float64 `json:"ci"`               // 95 % intervals of pagerank, sites and tau; null for fewer than five start sets
	Harvest        [][2]*float64    `json:"harvest"`          // pages, share on topic; null without a topic
	HarvestCI      []*[2]float64    `json:"harvest_ci"`       // 95 % intervals; null without a topic
	Time           [][2]*float64    `json:"time"`             // pages, simulated seconds; null without --polite
	Seconds        float64          `json:"seconds"`          // real time of all crawls, without measuring
	EdgesPerSecond *float64         `json:"edges_per_second"` // null when Seconds is 0
}

// Compare starts the result of a prepared simulation; name is the graph's.
func (s *Simulation) Compare(name string) *orderings {
	g := s.Graph
	return &orderings{
		Graph: name, Nodes: g.Nodes(), Edges: g.Edges(), Hosts: g.Hosts().Count(), Sites: g.Sites().Count(),
		Starts: len(s.Starts[0]), StartSets: len(s.Starts), Pages: s.MaxPages, Alike: s.Alike, Damping: s.Damping,
		Orders: map[string]orderingResult{}, manners: s.Manners, points: map[string][]graphMean{},
	}
}

// Add adds the crawls of one ordering.
func (r *orderings) Add(name string, crawls []*GraphCurve, points []graphMean) {
	var by orderingResult
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
		if r.manners != nil {
			by.Time = append(by.Time, [2]*float64{orNull(float64(p.Pages)), orNull(p.Hours.Value * 3600)})
		}
	}
	r.Orders[name], r.points[name] = by, points
	r.order = append(r.order, name)
}

// Print shows each ordering after a tenth, a quarter, a half and all of the pages.
func (r *orderings) Print(w io.Writer) {
	cli.Fprintf(w, "%s: %d pages, %d links, %d sites; %d crawls of at most %d pages an ordering, each from %s; 95 %%: %s\n\n",
		r.Graph, r.Nodes, r.Edges, r.Sites, r.StartSets, r.Pages, report.StartPages(r.Starts), r.intervals())
	r.table(w, "PageRank\t95 %\tsites\t95 %\ttau\t95 %\t", func(p graphMean) string {
		return fmt.Sprintf("%.3f\t%s\t%s\t%s\t%s\t%s\t", p.PageRank.Value, report.Interval(p.PageRank.CI),
			number(p.Sites.Value, "%.1f"), spanOf(p.Sites.CI, "%.1f"), number(p.Tau.Value, "%.3f"), report.Interval(p.Tau.CI))
	})
	if r.Topic != nil {
		r.table(w, "harvest\t95 %\t", func(p graphMean) string {
			return fmt.Sprintf("%.3f\t%s\t", p.Harvest.Value, report.Interval(p.Harvest.CI))
		})
	}
	if r.manners != nil {
		r.table(w, "hours\t95 %\t", func(p graphMean) string {
			return fmt.Sprintf("%.2f\t%s\t", p.Hours.Value, spanOf(p.Hours.CI, "%.2f"))
		})
	}
	for _, name := range r.order {
		by := r.Orders[name]
		cli.Fprintf(w, "%s: %.0f pages a crawl", name, by.Pages)
		if by.Short > 0 {
			cli.Fprintf(w, " (%d of %d ran out of pages)", by.Short, r.StartSets)
		}
		if by.EdgesPerSecond != nil {
			cli.Fprintf(w, ", %.2f million links/s", *by.EdgesPerSecond/1e6)
		}
		io.WriteString(w, "\n")
	}
	if r.HTML != "" {
		cli.Fprintf(w, "report: %s\n", r.HTML)
	}
}

func (r *orderings) intervals() string {
	if r.StartSets < stats.Fewest {
		return fmt.Sprintf("no intervals, as they need %d different start sets", stats.Fewest)
	}
	return "intervals over these crawls"
}

// table prints some columns of each ordering; all together would exceed 80 characters.
func (r *orderings) table(w io.Writer, columns string, cells func(graphMean) string) {
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
			cli.Fprintf(t, "%s\t%d\t", name, points[i].Pages)
			io.WriteString(t, cells(points[i])+"\n")
		}
	}
	_ = t.Flush() // it fails only when w does
	io.WriteString(w, "\n")
}

func number(x float64, format string) string {
	if math.IsNaN(x) {
		return "–"
	}
	return fmt.Sprintf(format, x)
}

func spanOf(ci *[2]float64, format string) string {
	if ci == nil {
		return "–"
	}
	return fmt.Sprintf(format+"–"+format, ci[0], ci[1])
}

func orNull(x float64) *float64 {
	if math.IsNaN(x) {
		return nil
	}
	return &x
}

//go:embed graphs.html
var graphsHTML string

type graphView struct {
	report.Head
	Plots []report.Figure
}

// WriteReport writes the HTML page; made adds facts on how it was made.
func (r *orderings) WriteReport(w io.Writer, made ...report.Fact) error {
	v := graphView{Head: report.Head{
		Sentences: []string{r.verdict()},
		Title:     "Orderings on " + filepath.Base(r.Graph),
		Subtitle:  fmt.Sprintf("%s, %s links, %s sites", report.Pages(r.Nodes), report.Number(int(r.Edges)), report.Number(r.Sites)),
		Made: append(made,
			report.Fact{Name: "start pages", Value: cli.Sprintf("%d sets of %d", r.StartSets, r.Starts)},
			report.Fact{Name: "all links count alike", Value: fmt.Sprint(r.Alike)},
			report.Fact{Name: "damping of PageRank", Value: fmt.Sprint(r.Damping)},
		),
	}}
	if r.manners != nil {
		v.Made = append(v.Made, report.Fact{Name: "manners", Value: r.manners.told()})
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
	return report.Write(w, graphsHTML, v)
}

// verdictShare is the share of the graph after which orderings are compared; complete crawls are all equal.
const verdictShare = 0.1

// verdict names the ordering with the most PageRank by then, beside breadth first or random pages.
func (r *orderings) verdict() string {
	best, found := "", map[string]graphMean{}
	for _, name := range r.order {
		for i, p := range r.points[name] {
			if i == 0 || float64(p.Pages) <= verdictShare*float64(r.Nodes) {
				found[name] = p
			}
		}
		if best == "" || found[name].PageRank.Value > found[best].PageRank.Value {
			best = name
		}
	}
	p := found[best]
	s := cli.Sprintf("After %s, %s has %s of all PageRank", report.Pages(p.Pages), best, report.Percent(p.PageRank.Value))
	if bfs, is := found["bfs"]; is && best != "bfs" {
		return s + fmt.Sprintf("; bfs, breadth first, has %s.", report.Percent(bfs.PageRank.Value))
	}
	return s + fmt.Sprintf("; pages at random would have %s.", report.Percent(float64(p.Pages)/float64(max(1, r.Nodes))))
}

func (m *GraphManners) told() string {
	return fmt.Sprintf("%d workers, a fetch takes %s, then its host rests %s", m.Workers, m.Fetch, m.Rest)
}

func (r *orderings) bandsText() string {
	if r.StartSets == 1 || len(r.order) > maxBands {
		return ""
	}
	return " Bands are 95 % intervals over the start sets."
}

func inSeconds(p graphMean) stats.Mean { return stats.Mean{Value: 3600 * p.Hours.Value} }

const maxBands = 5

func (r *orderings) plots() ([]report.Figure, error) {
	kinds := []struct {
		title, caption, y string
		counts, numbers   bool
		of                func(graphMean) stats.Mean
	}{
		{"PageRank collected", "Sum of the whole graph's PageRank over the pages crawled." + r.bandsText(), "share of all PageRank", false, false, func(p graphMean) stats.Mean { return p.PageRank }},
		{"Sites", "Number of sites of the crawled pages.", "sites", true, false, func(p graphMean) stats.Mean { return p.Sites }},
		{"Kendall’s τ", "How well PageRank computed from the crawled pages alone ranks them: 1 is the order of the whole graph, 0 is unrelated.", "τ", false, true, func(p graphMean) stats.Mean { return p.Tau }},
		{"Harvest", "Share of the pages crawled that are on topic.", "harvest", false, false, func(p graphMean) stats.Mean { return p.Harvest }},
		{"Time", "Simulated seconds to crawl this many pages, with rests and one fetch at a time from a host.", "seconds", true, false, inSeconds},
	}
	var figures []report.Figure
	for _, k := range kinds {
		c := report.Chart{XLabel: "pages crawled", YLabel: k.y, YCounts: k.counts, YNumbers: k.numbers, Fit: report.FitTop}
		for _, name := range r.order {
			if line := r.line(name, k.counts, k.numbers, k.of); len(line.Points) > 0 {
				c.Lines = append(c.Lines, line)
			}
		}
		if len(c.Lines) == 0 {
			continue
		}
		f, err := report.NewFigure(k.title, k.caption, c)
		if err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	return figures, nil
}

// line returns one ordering's curve without unknown values or, as the axis is logarithmic, counts below 1.
// Bands are clipped at 0, for numbers at −1.
func (r *orderings) line(name string, counts, numbers bool, of func(graphMean) stats.Mean) report.Line {
	line, least, known := report.Line{Name: name}, 0.0, false
	if numbers {
		least = -1
	}
	for _, p := range r.points[name] {
		m := of(p)
		if math.IsNaN(m.Value) || counts && m.Value < 1 {
			continue
		}
		line.Points = append(line.Points, report.Point{X: float64(p.Pages), Y: max(least, m.Value)})
		band := [2]float64{m.Value, m.Value} // an empty band without an interval
		if m.CI != nil {
			band, known = [2]float64{max(least, m.CI[0]), min(1, m.CI[1])}, !counts
		}
		line.Band = append(line.Band, band)
	}
	if !known || len(r.order) > maxBands {
		line.Band = nil
	}
	return line
}
