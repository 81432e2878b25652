package report

import (
	"encoding/xml"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestPlaces: values are drawn by the axes, those beyond an axis at its end.
func TestPlaces(t *testing.T) {
	s := sheet{box: box{x0: 0, x1: 10, y0: 1, y1: 100}, left: 40, right: 240, top: 5, bottom: 205}
	for _, c := range []struct {
		name     string
		log      bool
		x, y     float64
		atX, atY float64
	}{
		{"origin", false, 0, 1, 40, 205},
		{"far corner", false, 10, 100, 240, 5},
		{"middle", false, 5, 50.5, 140, 105},
		{"middle of a logarithmic axis", true, 5, 10, 140, 105},
		{"beyond", false, 12, 1000, 240, 5},
		{"below a logarithmic axis", true, -1, 0, 40, 205},
	} {
		s.log = c.log
		if x, y := s.x(c.x), s.y(c.y); math.Abs(x-c.atX) > 1e-9 || math.Abs(y-c.atY) > 1e-9 {
			t.Errorf("%s: (%v, %v) stands at %v, %v, want %v, %v", c.name, c.x, c.y, x, y, c.atX, c.atY)
		}
	}
}

// TestSVG: for any labels, the plot is well-formed XML with all parts inside the sheet.
func TestSVG(t *testing.T) {
	level := 0.3
	c := Chart{XLabel: "a < b & c", YLabel: `"right"`, Level: &level, Diagonal: "as said", XShares: true}
	for i := range maxLines + 1 {
		y := float64(i) / 10
		c.Lines = append(c.Lines, Line{Points: []Point{{0, y}, {0.5, 0.9}, {1, 1 - y}}, Band: [][2]float64{{0, y}, {0.8, 1}, {0.3, 1.2}}})
	}
	svg, err := c.svg(`a "title" <b>`)
	if err != nil {
		t.Fatal(err)
	}
	classes := map[string]int{}
	for d := xml.NewDecoder(strings.NewReader(string(svg))); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
		if e, ok := token.(xml.StartElement); ok {
			for _, a := range e.Attr {
				if a.Name.Local == "class" {
					classes[a.Value]++
				}
			}
		}
	}
	for class, want := range map[string]int{"plot": 1, "grid": 6, "axis": 7, "base": 2, "line k1": 2, "line k6": 1, "band k1": 2, "dot k1": 3, "dot k2": 0} {
		if classes[class] != want {
			t.Errorf("%d of class %q, want %d", classes[class], class, want)
		}
	}
	for _, bad := range []string{"-", "NaN", "Inf"} {
		if strings.Contains(strings.NewReplacer("text-anchor", "", "aria-label", "", "rotate(-90)", "").Replace(string(svg)), bad) {
			t.Errorf("%q in %s", bad, svg)
		}
	}
}

// TestNoNumber: NaN or infinity is an error that names the plot.
func TestNoNumber(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]Chart{
		"point": {Lines: []Line{{Name: "bad", Points: []Point{{1, nan}}}}},
		"place": {Lines: []Line{{Name: "bad", Points: []Point{{math.Inf(1), 1}}}}},
		"band":  {Lines: []Line{{Name: "bad", Points: []Point{{1, 1}}, Band: [][2]float64{{0, nan}}}}},
		"level": {Level: &nan},
	} {
		if _, err := NewFigure("Curve", "", c); err == nil || !strings.Contains(err.Error(), "Curve") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestStems: stems are not joined, and stand beside those of other lines.
func TestStems(t *testing.T) {
	points := []Point{{0, .5}, {1, .1}, {2, .4}}
	c := Chart{Lines: []Line{{Points: points, Stems: true}, {Points: points, Stems: true}}}
	svg, err := c.svg("bars")
	if err != nil {
		t.Fatal(err)
	}
	s := string(svg)
	if strings.Count(s, ` stem"`) != 6 || strings.Count(s, "<circle") != 6 || strings.Count(s, `class="line`) != 6 || strings.Count(s, "L") != 0 {
		t.Errorf("want six stems, and no line:\n%s", s)
	}
	if b := c.limits(); b.x1 != 2.5 {
		t.Errorf("the axis ends at %v, want room for the last stems", b.x1)
	}
}

// TestTextSize: no text is under 11 px on a page of 390 px, where a plot is 340 px wide.
func TestTextSize(t *testing.T) {
	narrow := stylesheet[strings.Index(stylesheet, "@media (max-width"):]
	px := regexp.MustCompile(`\.plot text \{ font-size: ([0-9.]+)px`).FindStringSubmatch(narrow)
	if px == nil {
		t.Fatal("no size of plots' text on a narrow page")
	}
	if size, err := strconv.ParseFloat(px[1], 64); err != nil || size*340/plotWidth < 11 {
		t.Errorf("plots' text is %.1f px at 390 px, %v", size*340/plotWidth, err)
	}
	for _, rem := range regexp.MustCompile(`font-size: ([0-9.]+)rem`).FindAllStringSubmatch(stylesheet, -1) {
		if size, err := strconv.ParseFloat(rem[1], 64); err != nil || size*16 < 11 {
			t.Errorf("%s is under 11 px, %v", rem[0], err)
		}
	}
}
