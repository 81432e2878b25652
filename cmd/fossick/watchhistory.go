package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"fossick/eval/webstats"
	"fossick/internal/printable"
	"fossick/internal/wholefile"
	"fossick/store"
	"fossick/store/change"
)

// historyLine is a page of --history FILE.jsonl.
type historyLine struct {
	URL    string         `json:"url"`
	Depth  int            `json:"depth"`
	Kind   string         `json:"link_kind"`
	Rate   *historyRate   `json:"rate"`   // null before a second visit
	Visits []historyVisit `json:"visits"` // the first stored the page
}

// historyRate is how often a page's text changes, in changes a day, with a 95 % interval.
type historyRate struct {
	Value float64    `json:"value"`
	CI    [2]float64 `json:"ci"`
	Unit  string     `json:"unit"`
}

// historyVisit is a visit, in a line of CSV or in one of JSON.
type historyVisit struct {
	At      string `json:"at"` // UTC
	State   string `json:"state"`
	Code    int    `json:"code"`
	Change  string `json:"change"`  // "", content, text, or unsure where nobody looked at the text
	Seconds any    `json:"seconds"` // a number
}

var changeNames = map[change.Kind]string{change.Content: "content", change.Text: "text", change.Unsure: "unsure"}

func historyVisitOf(v *change.Visit) historyVisit {
	return historyVisit{time.UnixMilli(v.At).UTC().Format("2006-01-02T15:04:05.000Z"), v.State, v.Code, changeNames[v.Change], float64(v.Took) / 1000}
}

// knownHistory refuses a file whose name does not say what it is to be.
func knownHistory(file string) error {
	if file == "" || strings.HasSuffix(file, ".csv") || strings.HasSuffix(file, ".jsonl") {
		return nil
	}
	return usagef("--history %s: want a name that ends with .csv or .jsonl", file)
}

// writeHistory writes all visits to a file, "" for none.
func writeHistory(file string, s *store.Store) error {
	if file == "" {
		return nil
	}
	err := wholefile.Write(file, 0o644, func(f *os.File) error {
		w := bufio.NewWriter(f)
		add, end, err := historyTo(w, file, s)
		if err != nil {
			return err
		}
		for p, err := range watchedPages(s) {
			if err == nil {
				err = add(p)
			}
			if err != nil {
				return err
			}
		}
		if err := end(); err != nil {
			return err
		}
		return w.Flush()
	})
	if err != nil {
		return fmt.Errorf("history %s: %w", file, err)
	}
	return nil
}

// historyTo returns what writes a page, and what ends the file.
func historyTo(w *bufio.Writer, file string, s *store.Store) (add func(*webstats.Watched) error, end func() error, err error) {
	if strings.HasSuffix(file, ".csv") {
		add, end = historyCSV(w)
		return add, end, nil
	}
	rate, err := estimatorOf(s)
	if err != nil {
		return nil, nil, err
	}
	add, end = historyJSON(w, rate)
	return add, end, nil
}

func historyJSON(w *bufio.Writer, rate *change.Model) (add func(*webstats.Watched) error, end func() error) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return func(p *webstats.Watched) error {
		line := historyLine{URL: p.URL, Depth: p.Depth, Kind: p.Kind, Visits: make([]historyVisit, len(p.Visits))}
		if looks := looksOf(nil, p.Visits); len(looks) > 0 {
			e := rate.Estimate(ratesPage(p, looks))
			line.Rate = &historyRate{e.Rate, [2]float64{e.Lo, e.Hi}, "changes a day"}
		}
		for i := range p.Visits {
			line.Visits[i] = historyVisitOf(&p.Visits[i])
		}
		return enc.Encode(line)
	}, func() error { return nil }
}

func historyCSV(to *bufio.Writer) (add func(*webstats.Watched) error, end func() error) {
	w := csv.NewWriter(to)
	begin := w.Write([]string{"url", "depth", "link_kind", "at", "state", "code", "change", "seconds"})
	return func(p *webstats.Watched) error {
			for i := range p.Visits {
				v := historyVisitOf(&p.Visits[i])
				if err := w.Write([]string{printable.Line(p.URL), strconv.Itoa(p.Depth), p.Kind, v.At, v.State, strconv.Itoa(v.Code), v.Change, fmt.Sprint(v.Seconds)}); err != nil {
					return err
				}
			}
			return begin
		}, func() error {
			w.Flush()
			return w.Error()
		}
}
