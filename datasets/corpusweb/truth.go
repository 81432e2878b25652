package corpusweb

import (
	"encoding/json"
	"io"
)

// truthLine is a page in WriteTruth.
type truthLine struct {
	URL     string   `json:"url"`
	Seconds float64  `json:"interval_seconds"`        // mean between two changes of its text
	Advert  *float64 `json:"advert_interval_seconds"` // of an advert; null: never
	Absence Absence  `json:"absence"`                 // "", gone or moved
	Lastmod Lastmod  `json:"lastmod"`                 // of its host's sitemap: true, always or never
	There   float64  `json:"there_seconds,omitempty"` // mean until it goes away
	Away    float64  `json:"away_seconds,omitempty"`  // mean until it comes back
}

// WriteTruth writes how each page changes, a JSON object a line: what a watch is to find
// out. Nothing where pages do not change.
func (w *Web) WriteTruth(to io.Writer) error {
	if w.opt.Change.Mean <= 0 {
		return nil
	}
	enc := json.NewEncoder(to)
	for _, key := range w.index.Keys() {
		t := w.Truth(key)
		line := truthLine{URL: key, Seconds: t.Interval.Seconds(), Absence: t.Absence, Lastmod: t.Lastmod}
		if t.Advert > 0 {
			seconds := t.Advert.Seconds()
			line.Advert = &seconds
		}
		if t.Absence != Never {
			line.There, line.Away = thereMeans*w.opt.Change.Mean.Seconds(), awayMeans*w.opt.Change.Mean.Seconds()
		}
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	return nil
}
