package ui_test

import (
	"context"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"fossick/internal/report"
	"fossick/internal/testkit"
	"fossick/ui"
)

const reportTemplate = `{{template "head" .Head}}{{template "tiles" .}}<div class="plots">{{range .Figures}}{{template "figure" .}}{{end}}</div>{{template "more" .}}<details class="section" open><summary><h2>Matrix</h2></summary>{{template "matrix" .Matrix}}</details>{{template "made" .}}{{template "foot"}}`

// writeReport writes a report with each kind of figure, and attacks for names, into a file.
func writeReport(t *testing.T) (address string) {
	t.Helper()
	bad := "</script><script>window.hit=1</script>"
	level := 0.4
	page := struct {
		report.Head
		Figures []report.Figure
		Matrix  *report.Matrix
	}{
		Head:   report.Head{Title: bad, Sentences: []string{"One.", "Two.", "Three.", bad}, Tiles: []report.Tile{{Label: bad, Value: "80 %", Note: "of 10"}, {Label: "Pages", Value: "1,200"}}, Made: []report.Fact{{Name: "model", Value: bad}}},
		Matrix: report.NewMatrix([]string{"a", bad}, []string{"a", bad}, [][]int{{3, 1}, {0, 5}}, nil),
	}
	for _, c := range []struct {
		title string
		report.Chart
	}{
		{"Band " + bad, report.Chart{XLabel: "pages", YLabel: bad, Level: &level, LevelName: bad, Fit: report.FitBoth, Lines: []report.Line{
			{Name: bad, Points: []report.Point{{X: 10, Y: 0.5}, {X: 20, Y: 0.7}, {X: 20, Y: 0.6}}, Band: [][2]float64{{0.3, 0.6}, {0.5, 0.9}, {0.4, 0.8}}},
			{Name: "few", Points: []report.Point{{X: 15, Y: 0.55}}}, {Name: "none"},
		}}},
		{"Stems", report.Chart{XLabel: "p", YLabel: "share", XShares: true, Diagonal: "as it should be", Lines: []report.Line{
			{Name: "a", Stems: true, Points: []report.Point{{X: 0.1, Y: 0.2}, {X: 0.3, Y: 0.9}}}, {Name: "b", Stems: true, Points: []report.Point{{X: 0.1, Y: 0.4}}},
		}}},
		{"Logarithmic", report.Chart{XLabel: "hosts", YLabel: "pages", XLog: true, YCounts: true, Lines: []report.Line{{Points: []report.Point{{X: 1, Y: 900}, {X: 100, Y: 2}, {X: 1000, Y: 0.5}}}}}},
	} {
		f, err := report.NewFigure(c.title, "A caption. "+bad, c.Chart)
		if err != nil {
			t.Fatal(err)
		}
		page.Figures = append(page.Figures, f)
	}
	intervals, err := report.NewRanges("Intervals", bad, "days", []report.Range{{Name: bad, Value: 2, Lo: 1, Hi: 4}, {Name: "b", Value: 30, Lo: 20, Hi: 90}})
	if err != nil {
		t.Fatal(err)
	}
	page.Figures = append(page.Figures, intervals)
	file, err := os.Create(filepath.Join(t.TempDir(), "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(report.Write(file, reportTemplate, page), file.Close()); err != nil {
		t.Fatal(err)
	}
	return "file://" + file.Name()
}

// TestReportInBrowser opens a report from disk: its figures draw, its exports hold what they should,
// and axe finds no barrier, wide and narrow, light and dark.
func TestReportInBrowser(t *testing.T) {
	if _, ok := ui.Files(); !ok {
		t.Skip("this build has no scripts (tag noui)")
	}
	address, browser := writeReport(t), startBrowser(t)
	axe, err := os.ReadFile(filepath.Join("node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Log("without axe-core, which npm ci in ui/ installs, barriers are not looked for")
	}
	for _, look := range looks[:testkit.Rounds(2, len(looks))] {
		where := fmt.Sprintf("%d px, %s", look.width, look.scheme)
		p := openAddress(t, browser, address, address)
		p.figures = 4
		p.as(look)
		p.until(`document.querySelectorAll("figure.drawn canvas").length === 4`)
		for i, last := range []string{"60 % to 70 % (40 % to 90 %)", "90 %", "0.5", "30 (20 to 90)"} {
			if got := evaluate[string](p, fmt.Sprintf(`document.querySelectorAll("figure.plot")[%d].querySelector(".u-legend").textContent`, i)); !strings.Contains(got, last) {
				t.Errorf("%s: legend %d without the last value %q: %s", where, i, last, got)
			}
		}
		if blank := evaluate[int](p, `[...document.querySelectorAll("canvas")].filter((c) => new Set(new Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer)).size < 5).length`); blank > 0 {
			t.Errorf("%s: %d figures are blank", where, blank)
		}
		if open := evaluate[string](p, `[...document.querySelectorAll("details.section")].map((d) => d.open).join()`); open != "true,false" {
			p.t.Errorf("%s: open sections: %s, not the first alone", where, open)
		}
		if open := evaluate[int](p, `document.querySelectorAll("figure details[open]").length`); open > 0 {
			t.Errorf("%s: %d tables are open", where, open)
		}
		hovered(p)
		exported(p)
		evaluate[bool](p, `document.querySelectorAll("details").forEach((d) => d.open = true), true`)
		if wide := evaluate[int](p, `document.documentElement.scrollWidth - innerWidth`); wide > 0 {
			t.Errorf("%s: %d px too wide", where, wide)
		}
		if axe != nil {
			barriers(p, string(axe), where)
		}
		p.check()
		p.close()
	}
}

// hovered points at the left end of the first figure: its legend tells the values there, and of a line
// without a point there the nearest. Then the pointer leaves, and the legend tells the last values.
func hovered(p *tab) {
	p.t.Helper()
	p.until(`[...document.querySelectorAll(".canvas")].every((box) => box.querySelector(".uplot").offsetWidth === box.clientWidth)`) // drawn in the present width
	const legend = `[...document.querySelectorAll("figure.plot")[0].querySelectorAll(".u-value")].map((v) => v.textContent).join("; ")`
	for _, c := range []struct {
		x    float64
		want string
	}{
		{2, "10; 50 % (30 % to 60 %); 55 % at 15; –; 40 %"},
		{-20, "20; 60 % to 70 % (40 % to 90 %); 55 % at 15; –; 40 %"},
	} {
		shake := 0.0 // A hand does not rest: if the page scrolls or draws under the pointer, the next movement counts.
		eventually(p.t, c.want, func() bool {
			at := evaluate[[]float64](p, `(() => {
				const over = document.querySelector("figure .u-over");
				over.scrollIntoView({ block: "center" });
				const r = over.getBoundingClientRect();
				return [r.left, r.top + r.height / 2];
			})()`)
			shake = 1 - shake
			p.do(chromedp.MouseEvent(chromedp.MouseMoved, at[0]+c.x+shake, at[1]))
			return evaluate[bool](p, fmt.Sprintf("%s === %q", legend, c.want))
		})
	}
}

// exported presses the buttons of each figure and reads the files.
func exported(p *tab) {
	p.t.Helper()
	files := evaluate[[]string](p, `(() => {
		const blobs = [], make = URL.createObjectURL, click = HTMLAnchorElement.prototype.click;
		URL.createObjectURL = (b) => (blobs.push(b), "blob:");
		HTMLAnchorElement.prototype.click = () => {};
		document.querySelectorAll("figure .tools button").forEach((b) => b.click());
		URL.createObjectURL = make;
		HTMLAnchorElement.prototype.click = click;
		return Promise.all(blobs.map((b) => b.text()));
	})()`, chromedp.EvalAwaitPromise)
	if len(files) != 8 {
		p.check()
		p.t.Fatalf("%d files of 4 figures", len(files))
	}
	// All that is drawn, and nothing else: grids, lines, bands and dots are paths; titles, marks and names texts; marks of the legend lines.
	drawn := []string{
		"map[clipPath:5 g:7 line:4 path:13 rect:1 svg:1 text:18]",
		"map[clipPath:3 g:4 line:3 path:8 rect:1 svg:1 text:18]",
		"map[clipPath:1 g:2 path:4 rect:1 svg:1 text:11]",
		"map[clipPath:2 g:4 path:6 rect:1 svg:1 text:10]",
	}
	for i, rows := range []int{4, 2, 3, 2} {
		table, err := csv.NewReader(strings.NewReader(files[2*i])).ReadAll()
		if err != nil || len(table) != 1+rows {
			p.t.Errorf("figure %d: not a line and %d rows (%v): %q", i, rows, err, table)
		}
		elements := map[string]int{}
		for d := xml.NewDecoder(strings.NewReader(files[2*i+1])); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				p.t.Fatalf("figure %d is not XML: %v", i, err)
			}
			if e, ok := token.(xml.StartElement); ok {
				elements[e.Name.Local]++
			}
		}
		if got := fmt.Sprint(elements); got != drawn[i] {
			p.t.Errorf("figure %d has %s, want %s", i, got, drawn[i])
		}
	}
}

type look struct {
	width  int64
	scheme string
}

var looks = []look{{1280, "light"}, {390, "dark"}, {1280, "dark"}, {390, "light"}}

func (p *tab) as(l look) {
	p.t.Helper()
	p.do(chromedp.EmulateViewport(l.width, 900), chromedp.Func(func(ctx context.Context, c *chromedp.Target) error {
		_, err := cdp.Call(ctx, c, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: l.scheme}}})
		return err
	}))
}
