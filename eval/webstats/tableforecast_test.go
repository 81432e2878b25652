package webstats

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestForecasts checks visits of two URLs by hand. The bins count all but the first visit of each URL.
func TestForecasts(t *testing.T) {
	c := newURLCounts(t.TempDir())
	defer c.close()
	ok, busy := Exchange{"ok", 200, 5}, Exchange{"code", 503, 5}
	c.add(&URL{URL: "http://a.test/", State: "ok", Exchanges: []Exchange{busy, busy, ok}, Times: []int64{1000, 61_000, 200_000}})
	c.add(&URL{URL: "http://a.test/x", State: "ok", Exchanges: []Exchange{ok, ok}, Times: []int64{2000, 90_000_000}})
	c.add(&URL{URL: "http://b.test/", State: "ok", Exchanges: []Exchange{ok, busy}}) // without times
	s := c.forecast.score()
	scores, bins := scoreTable(&s), forecastTable(&s)
	ss, ff := .9638, .7426
	want := []float64{s.Brier, ((1-ff)*(1-ff) + ff*ff + (1-ss)*(1-ss)) / 3, 1. / 3}
	for i, row := range scores.Rows {
		if row[1] != int64(3) || !(math.Abs(row[2].(float64)-want[i]) <= 1e-9) {
			t.Errorf("%v, want 3 visits and %g", row, want[i])
		}
	}
	visits, came := int64(0), 0.
	for _, row := range bins.Rows {
		visits += row[2].(int64)
		came += row[4].(float64) * float64(row[2].(int64))
		if mean := row[3].(float64); mean < row[0].(float64) || mean > row[1].(float64) {
			t.Errorf("%v", row)
		}
	}
	if visits != 3 || !(math.Abs(came-2) <= 1e-9) || len(scores.Rows) != 3 {
		t.Errorf("%d visits, %g of them came: %v", visits, came, bins.Rows)
	}
	s.Bins[9].Visits, s.Bins[9].Good = 100, 96 // bins with fewer visits are not plotted
	var k curves
	k.forecast, k.foretold = reliability(&s)
	figures, err := k.figures()
	if err != nil || len(figures) != 1 || !strings.Contains(fmt.Sprint(figures[0]), "forecast probability") || len(k.forecast.Points) != 1 {
		t.Errorf("%d figures, %v", len(figures), err)
	}
}

// TestNoForecasts: without repeated requests there is no plot, and the tables say why.
func TestNoForecasts(t *testing.T) {
	c := newURLCounts(t.TempDir())
	defer c.close()
	c.add(&URL{URL: "http://a.test/", State: "ok", Exchanges: []Exchange{{"ok", 200, 5}}, Times: []int64{1000}})
	s := c.forecast.score()
	var k curves
	k.forecast, k.foretold = reliability(&s)
	if figures, err := k.figures(); err != nil || len(figures) != 0 || scoreTable(&s).Note != noForecast || forecastTable(&s).Note != noForecast {
		t.Errorf("%d figures, %v", len(figures), err)
	}
}
