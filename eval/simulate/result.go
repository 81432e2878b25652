package simulate

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"fossick/internal/printable"
	"fossick/internal/report"
	"fossick/internal/stats"
)

// Comparison is what crawls by several orderings came to, as JSON has it.
type Comparison struct {
	Graph     string               `json:"graph"`
	Nodes     int                  `json:"nodes"`
	Edges     int64                `json:"edges"`
	Hosts     int                  `json:"hosts"`
	Sites     int                  `json:"sites"`
	Starts    int                  `json:"starts"` // a crawl
	StartSets int                  `json:"start_sets"`
	Pages     int                  `json:"max_pages"`
	Alike     bool                 `json:"alike"`
	Damping   float64              `json:"damping"`
	Topic     *string              `json:"topic"`    // null without one
	Relevant  *int                 `json:"relevant"` // pages on topic in the graph; likewise
	Orders    map[string]CrawledBy `json:"orders"`
	HTML      string               `json:"html,omitempty"`

	manners *Manners // nil without
	order   []string // as asked for
	points  map[string][]MeanPoint
}

// CrawledBy are the crawls by one ordering: means over the start sets.
type CrawledBy struct {
	Pages          float64          `json:"pages"`            // crawled
	Short          int              `json:"short"`            // crawls that ran out of pages
	Curve          [][4]*float64    `json:"curve"`            // pages, pagerank, sites, tau
	CI             [][3]*[2]float64 `json:"ci"`               // of the last three, 95 %; null for fewer than five start sets
	Harvest        [][2]*float64    `json:"harvest"`          // pages, share on topic; null without a topic
	HarvestCI      []*[2]float64    `json:"harvest_ci"`       // likewise
	Time           [][2]*float64    `json:"time"`             // pages, simulated seconds; null without --polite
	Seconds        float64          `json:"seconds"`          // of all crawls, without measuring
	EdgesPerSecond *float64         `json:"edges_per_second"` // likewise
}

// Compare begins a comparison of a prepared simulation, by the graph's name.
func (s *Simulation) Compare(name string) *Comparison {
	g := s.Graph
	return &Comparison{
		Graph: name, Nodes: g.Nodes(), Edges: g.Edges(), Hosts: g.Hosts().Count(), Sites: g.Sites().Count(),
		Starts: len(s.Starts[0]), StartSets: len(s.Starts), Pages: s.MaxPages, Alike: s.Alike, Damping: s.Damping,
		Orders: map[string]CrawledBy{}, manners: s.Manners, points: map[string][]MeanPoint{},
	}
}

// Add takes the crawls of one ordering.
func (r *Comparison) Add(name string, crawls []*Crawled, points []MeanPoint) {
	var by CrawledBy
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

// Print gives each ordering after a tenth, a half and all of the pages.
func (r *Comparison) Print(w io.Writer) {
	printable.Fprintf(w, "%s: %d pages, %d links, %d sites; %d crawls of at most %d pages an ordering, each from %s; 95 %%: %s\n\n",
		r.Graph, r.Nodes, r.Edges, r.Sites, r.StartSets, r.Pages, report.StartPages(r.Starts), r.intervals())
	r.table(w, "PageRank\t95 %\tsites\t95 %\ttau\t95 %\t", func(p MeanPoint) string {
		return fmt.Sprintf("%.3f\t%s\t%s\t%s\t%s\t%s\t", p.PageRank.Value, report.Interval(p.PageRank.CI),
			number(p.Sites.Value, "%.1f"), span(p.Sites.CI, "%.1f"), number(p.Tau.Value, "%.3f"), report.Interval(p.Tau.CI))
	})
	if r.Topic != nil {
		r.table(w, "harvest\t95 %\t", func(p MeanPoint) string {
			return fmt.Sprintf("%.3f\t%s\t", p.Harvest.Value, report.Interval(p.Harvest.CI))
		})
	}
	if r.manners != nil {
		r.table(w, "hours\t95 %\t", func(p MeanPoint) string {
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

// intervals says what the columns of intervals are.
func (r *Comparison) intervals() string {
	if r.StartSets < stats.Fewest {
		return fmt.Sprintf("no intervals, as they need %d different start sets", stats.Fewest)
	}
	return "intervals over these crawls"
}

// table prints some columns of each ordering; a terminal of 80 columns has no room for
// all beside each other.
func (r *Comparison) table(w io.Writer, columns string, cells func(MeanPoint) string) {
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

// orNull is a number that may be unknown.
func orNull(x float64) *float64 {
	if math.IsNaN(x) {
		return nil
	}
	return &x
}
