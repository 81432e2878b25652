package main

import (
	"io"

	"fossick/crawler"
	"fossick/internal/printable"
)

// marginalResult is what the next pages of a crawl are worth, in JSON.
type marginalResult struct {
	Pages   int     `json:"pages"`   // the last ones that it goes by
	Harvest float64 `json:"harvest"` // of these
	Upper   float64 `json:"upper"`   // end of its one-sided 99 % interval
}

// marginalOf returns nil of a crawl without pages.
func marginalOf(m crawler.Marginal) *marginalResult {
	if m.Pages == 0 {
		return nil
	}
	return &marginalResult{m.Pages, m.Harvest, m.Upper}
}

func (m *marginalResult) print(w io.Writer) {
	if m != nil {
		printable.Fprintf(w, "of the last %d pages %.1f %% are on topic; of the next surely no more than %.1f %%\n", m.Pages, 100*m.Harvest, 100*m.Upper)
	}
}
