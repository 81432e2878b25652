package report

// maxLines is how many colours report.css has; later lines use them again, with
// their points marked.
const maxLines = 6

// Point is a point of a line. Y is a share in [0,1], or a count where Chart.YCounts
// says so. X is a count, or as Chart.XShares, Chart.XNumbers or Chart.XLog say.
type Point struct{ X, Y float64 }

// Line is one line of a plot.
type Line struct {
	Name   string
	Points []Point
	Band   [][2]float64 // around each point; nil for none
	Dots   bool         // mark the points: they are few, and what was measured
	Stems  bool         // the points stand apart, as a histogram's: each has a stem from the axis, and nothing joins them
}

// Fit says which part of the shares the axis spans.
type Fit byte

// The fits.
const (
	FitNone Fit = iota // 0 to 100 %
	FitTop             // from 0 to a round share above the highest
	FitBoth            // from a round share below the lowest to one above the highest
)

// Chart is a plot of shares or counts.
type Chart struct {
	XLabel, YLabel string
	Lines          []Line
	Level          *float64 // a share to compare with, nil for none
	LevelName      string
	Diagonal       string // name of the line y = x, "" for none
	XShares        bool   // X are shares, and the axis runs from 0 to 100 %
	XNumbers       bool   // X are numbers such as 0.05, and the axis spans them
	XLog           bool   // X are numbers above 0, on a logarithmic axis
	YCounts        bool   // Y are counts of 1 or more, on a logarithmic axis
	YNumbers       bool   // Y are numbers in [−1,1] that are no shares, such as a correlation
	Fit            Fit
}
