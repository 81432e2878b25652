package webstats

import (
	"fmt"
	"time"

	"fossick/internal/page"
	"fossick/internal/report"
	"fossick/internal/stats"
	"fossick/store/change/netstate"
)

// forecast has the exchanges of URLs predicted, once all are known.
type forecast struct {
	trial netstate.Trial
	again bool // some URL was asked for twice
}

func (f *forecast) add(u *URL) {
	if len(u.Times) != len(u.Exchanges) || len(u.Times) == 0 {
		return
	}
	f.again = f.again || len(u.Times) > 1
	host := page.Host(u.URL)
	for i, x := range u.Exchanges {
		if o, ok := netstate.OutcomeOf(x.State, x.Code); ok {
			f.trial.Add(netstate.Visit{URL: u.URL, Host: host, At: time.UnixMilli(u.Times[i]), Outcome: o})
		}
	}
}

// score is how good forecasts were.
func (f *forecast) score() (s netstate.Score) {
	if f.again {
		s = f.trial.Score()
	}
	return s
}

const noForecast = "No URL has been requested twice yet, so there was nothing to forecast."

// scoreTable compares predictors.
func scoreTable(s *netstate.Score) Table {
	t := Table{Name: "forecast_scores", Title: "How well the success of a visit could be forecast",
		Columns: []Column{{"predictor", "predictor", Words}, {"visits", "visits", Whole}, {"brier", "Brier score", Number}},
		Note:    "Of visits to URLs that had been visited before. The score is the mean squared error of the probabilities: 0 is perfect, 0.25 is a coin toss."}
	if s.Visits == 0 {
		t.Note = noForecast
		return t
	}
	for _, row := range []struct {
		name  string
		brier float64
	}{{"fossick's", s.Brier}, {"two-state chain", s.Chain}, {"as last time", s.Last}} {
		t.Rows = append(t.Rows, []any{row.name, int64(s.Visits), row.brier})
	}
	return t
}

// forecastTable is of forecasts and what came.
func forecastTable(s *netstate.Score) Table {
	t := Table{Name: "forecasts", Title: "Forecasts that a visit succeeds, and the outcomes",
		Columns: []Column{{"from", "chance from", Share}, {"to", "to", Share}, {"visits", "visits", Whole}, {"chance", "mean chance", Share}, {"came", "succeeded", Share}},
		Note:    fmt.Sprintf("Each visit to a URL that had been visited before, forecast from its earlier visits. On average the probabilities are off by %s.", percent(s.Off))}
	if s.Visits == 0 {
		t.Note = noForecast
		return t
	}
	for i, b := range s.Bins {
		if b.Visits > 0 {
			t.Rows = append(t.Rows, []any{float64(i) / 10, float64(i+1) / 10, int64(b.Visits), b.Mean, share(int64(b.Good), int64(b.Visits))})
		}
	}
	return t
}

const reliabilityCaption = " Of the visits forecast to succeed with a probability near x, the share that did: below the line the forecast was too optimistic. The band is the 95 % interval; it is wide where there are few visits."

// fewVisits have no share that a plot would show.
const fewVisits = 5

// reliability is the share of successes by chance, and what is to be said below.
func reliability(s *netstate.Score) (l report.Line, caption string) {
	l = report.Line{Name: "fossick", Dots: true}
	for _, b := range s.Bins {
		if b.Visits >= fewVisits {
			l.Points = append(l.Points, report.Point{X: b.Mean, Y: float64(b.Good) / float64(b.Visits)})
			l.Band = append(l.Band, stats.Wilson(b.Good, b.Visits))
		}
	}
	return l, fmt.Sprintf("Brier score %.4f, of the two-state chain %.4f, of \"as last time\" %.4f; 0 is perfect.", s.Brier, s.Chain, s.Last) + reliabilityCaption
}

func (k *curves) reliability() report.Chart {
	return report.Chart{XLabel: "forecast probability", YLabel: "visits that succeeded", Lines: []report.Line{k.forecast}, XShares: true, Diagonal: "perfect forecasts"}
}
