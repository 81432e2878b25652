package monitor

import (
	"io"

	"fossick/crawler"
	"fossick/internal/printable"
	"fossick/internal/report"
)

// Next is what the next pages of a crawl are worth, in JSON.
type Next struct {
	Pages   int     `json:"pages"`   // the last ones that it goes by
	Harvest float64 `json:"harvest"` // of these
	Upper   float64 `json:"upper"`   // end of its one-sided 99 % interval
}

// nextOf returns nil of a crawl without pages.
func nextOf(m crawler.Marginal) *Next {
	if m.Pages == 0 {
		return nil
	}
	return &Next{m.Pages, m.Harvest, m.Upper}
}

func (m *Next) print(w io.Writer) {
	if m != nil {
		printable.Fprintf(w, "%s of the last %d pages were on topic; expect at most %s of the next (99 %% confidence)\n", report.Percent(m.Harvest), m.Pages, report.Percent(m.Upper))
	}
}
