package report

import (
	"fmt"
	"math"
	"strconv"
)

// A tick is a mark on an axis.
type tick struct {
	at    float64
	label string
}

// A ticker chooses the ticks of an axis from lo to hi.
type ticker func(lo, hi float64) []tick

// tickers are those of the axes.
func (c Chart) tickers() (x, y ticker) {
	x, y = countTicks, percentTicks
	switch {
	case c.XShares:
		x = percentTicks
	case c.XNumbers:
		x = numberTicks
	case c.XLog:
		x = powerTicks
	}
	switch {
	case c.YCounts:
		y = logTicks
	case c.YNumbers:
		y = numberTicks
	}
	return x, y
}

// box is what the axes span.
type box struct{ x0, x1, y0, y1 float64 }

// limits are the ends of the axes.
func (c Chart) limits() box {
	b := box{x1: 1, y1: 1}
	least, most := math.Inf(1), 0.0
	see := func(y float64) { least, most = min(least, y), max(most, y) }
	for _, l := range c.Lines {
		for _, p := range l.Points {
			b.x1 = max(b.x1, p.X)
			see(p.Y)
		}
		for _, ci := range l.Band {
			see(ci[0])
			see(ci[1])
		}
	}
	if first := c.Lines; len(first) > 0 && first[0].Stems && len(first[0].Points) > 1 { // room for the last stems
		b.x1 += (first[0].Points[1].X - first[0].Points[0].X) / 2
	}
	if c.Level != nil {
		see(*c.Level)
	}
	if c.XNumbers {
		b.x0, b.x1 = c.span()
	}
	if c.XLog {
		b.x0, b.x1 = c.span()
		b.x0 = max(b.x0, b.x1/1e12)
	}
	if c.YNumbers && least < 0 {
		b.y0 = math.Floor(5*least) / 5
	}
	switch {
	case c.YCounts:
		b.y0, b.y1 = 1, roundUp(max(most, 10))
	case c.Fit == FitTop:
		for _, end := range []float64{0.5, 0.25, 0.1, 0.05} { // whole percents at the fifths
			if most <= end {
				b.y1 = end
			}
		}
	case c.Fit == FitBoth && least <= most:
		b.y0, b.y1 = around(least, most)
	}
	return b
}

// around returns ends of an axis of five equal steps of 1, 2, 5, 10 or 20 percent
// that holds least to most, shares both.
func around(least, most float64) (lo, hi float64) {
	for _, step := range []float64{1, 2, 5, 10} {
		lo = step * math.Floor(min(100*least, 100-5*step)/step)
		if lo >= 0 && 100*most <= lo+5*step {
			return lo / 100, (lo + 5*step) / 100
		}
	}
	return 0, 1
}

// percentTicks marks every fifth of the axis.
func percentTicks(lo, hi float64) []tick {
	var t []tick
	for i := range 6 {
		v := lo + (hi-lo)*float64(i)/5
		t = append(t, tick{v, fmt.Sprintf("%.0f %%", 100*v)})
	}
	return t
}

// countTicks marks whole numbers at round steps, at most six.
func countTicks(_, hi float64) []tick {
	step := NiceStep(int(hi*50/6) + 1) // a step that gives 50 points of 50/6 as many gives 6 of these
	var t []tick
	for v := 0; float64(v) <= hi; v += step {
		t = append(t, tick{float64(v), Number(v)})
	}
	return t
}

// NiceStep returns a step of 1, 2 or 5 times a power of ten. It gives a curve
// of n points between 20 and 50 points, all of them when n is smaller.
func NiceStep(n int) int {
	for base := 1; ; base *= 10 {
		for _, f := range []int{1, 2, 5} {
			if n <= 50*base*f {
				return base * f
			}
		}
	}
}

// span returns the least and the greatest X.
func (c Chart) span() (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, l := range c.Lines {
		for _, p := range l.Points {
			lo, hi = min(lo, p.X), max(hi, p.X)
		}
	}
	if !(lo < hi) {
		return 0, max(1, 2*hi) // no point, or one
	}
	return lo, hi
}

// roundUp returns the least of 1, 2 and 5 times a power of ten that is n or more.
func roundUp(n float64) float64 {
	for base := 1.0; ; base *= 10 {
		for _, f := range []float64{1, 2, 5} {
			if n <= base*f {
				return base * f
			}
		}
	}
}

// numberTicks marks round numbers, at most seven.
func numberTicks(lo, hi float64) []tick {
	step := math.Pow(10, math.Floor(math.Log10(hi-lo)))
	for _, part := range []float64{1. / 5, 1. / 2, 1, 2} {
		if (hi-lo)/(step*part) <= 7 {
			step *= part
			break
		}
	}
	var t []tick
	for k := math.Ceil(lo/step-1e-9) + 0; k*step <= hi+1e-9*step; k++ {
		t = append(t, tick{k * step, strconv.FormatFloat(math.Round(k*step*1e9)/1e9, 'f', -1, 64)})
	}
	return t
}

// logTicks marks 1, 2 and 5 times the powers of ten, over two powers those alone.
func logTicks(lo, hi float64) []tick {
	var t []tick
	for base := 1.0; base <= hi; base *= 10 {
		for _, f := range []float64{1, 2, 5} {
			if v := base * f; v >= lo && v <= hi && (f == 1 || hi <= 100*lo || v == hi) {
				t = append(t, tick{v, Number(int(v))})
			}
		}
	}
	return t
}

// powerTicks marks powers of ten, below three of them 1, 2 and 5 times these.
func powerTicks(lo, hi float64) []tick {
	var t []tick
	for base := math.Pow(10, math.Floor(math.Log10(lo))); base <= hi; base *= 10 {
		for _, f := range []float64{1, 2, 5} {
			if v := base * f; v >= lo && v <= hi && (f == 1 || hi < 1000*lo) {
				t = append(t, tick{v, powerLabel(v)})
			}
		}
	}
	return t
}

func powerLabel(v float64) string {
	if v >= 1 && v < 1<<53 {
		return Number(int(v))
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}
