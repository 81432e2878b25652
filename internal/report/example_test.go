package report_test

import (
	"fmt"
	"os"
	"strings"

	"fossick/internal/report"
)

// A page with a head, a figure, and a name from the web, which is escaped.
func ExampleWrite() {
	curve := report.Chart{XLabel: "pages", YLabel: "harvest", Lines: []report.Line{
		{Name: "bees", Points: []report.Point{{X: 100, Y: 0.8}, {X: 200, Y: 0.6}}}}}
	figure, err := report.NewFigure("Harvest", "The share of pages on topic.", curve)
	if err != nil {
		fmt.Println(err)
		return
	}
	page := struct {
		report.Head
		Figure report.Figure
	}{report.Head{Title: "Bees <& wasps>", Sentences: []string{"Of 200 pages 120 are on topic."}}, figure}
	var html strings.Builder
	err = report.Write(&html, `{{template "head" .}}{{template "figure" .Figure}}{{template "foot"}}`, page)
	for line := range strings.Lines(html.String()) {
		if strings.HasPrefix(line, "<h1>") || strings.HasPrefix(line, "<figcaption>") {
			fmt.Fprint(os.Stdout, line)
		}
	}
	fmt.Println(err)
	// Output:
	// <h1>Bees &lt;&amp; wasps&gt;</h1>
	// <figcaption><h2>Harvest</h2></figcaption>
	// <nil>
}
