package simulate

import (
	_ "embed" // report.html
	"fmt"
	"io"
	"path/filepath"

	"fossick/internal/printable"
	"fossick/internal/report"
)

//go:embed report.html
var reportHTML string

// view is what report.html is filled with.
type view struct {
	report.Head
	Plots []report.Figure
}

// WriteReport writes the page; made says who made it, and by which seed.
func (r *Comparison) WriteReport(w io.Writer, made ...report.Fact) error {
	v := view{Head: report.Head{
		Sentences: []string{r.verdict()},
		Title:     "Orderings on " + filepath.Base(r.Graph),
		Subtitle:  fmt.Sprintf("%s, %s links, %s sites", report.Pages(r.Nodes), report.Number(int(r.Edges)), report.Number(r.Sites)),
		Made: append(made,
			report.Fact{Name: "start pages", Value: printable.Sprintf("%d sets of %d", r.StartSets, r.Starts)},
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
	return report.Write(w, reportHTML, v)
}

// verdictShare is the share of the graph after which orderings are compared in words: a whole
// crawl has all of it, whatever its order.
const verdictShare = 0.1

// verdict names the ordering that collects PageRank first, and what breadth first, or else
// pages at random, have by then.
func (r *Comparison) verdict() string {
	best, found := "", map[string]MeanPoint{}
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
	s := printable.Sprintf("After %s, %s has %s of all PageRank", report.Pages(p.Pages), best, report.Percent(p.PageRank.Value))
	if bfs, is := found["bfs"]; is && best != "bfs" {
		return s + fmt.Sprintf("; bfs, breadth first, has %s.", report.Percent(bfs.PageRank.Value))
	}
	return s + fmt.Sprintf("; pages at random would have %s.", report.Percent(float64(p.Pages)/float64(max(1, r.Nodes))))
}

// told says the manners in a report.
func (m *Manners) told() string {
	return fmt.Sprintf("%d workers, a fetch takes %s, then its host rests %s", m.Workers, m.Fetch, m.Rest)
}
