package collection

import (
	"maps"
	"time"

	"fossick/internal/rights"
)

// Crawl is what a store says of its whole crawl, whichever pages are chosen.
type Crawl struct {
	Topics  []string
	Version string    // of the fossick that made the store
	Made    time.Time // the store, in UTC
	Purpose rights.Purpose

	Pages, Relevant uint64            // stored, and of these on topic as the crawl found
	URLs            uint64            // discovered
	Skipped         uint64            // of them, seen and never queued
	Lost            uint64            // of them, those of which damage took the record
	States          map[string]uint64 // of URLs that are done with
}

// Crawl tells of the crawl as it was when the collection was opened.
func (s *Source) Crawl() Crawl {
	c := Crawl{
		Topics: s.info.Topics, Version: s.info.Version, Made: time.Unix(s.info.Created, 0).UTC(), Purpose: s.purpose,
		Pages: s.counts.Pages, Relevant: s.counts.Relevant, URLs: s.counts.URLs, Skipped: s.counts.Skipped, Lost: s.counts.Lost,
		States: maps.Clone(s.counts.States),
	}
	if len(c.Topics) == 0 && s.info.Topic != "" {
		c.Topics = []string{s.info.Topic}
	}
	return c
}

// lastPage is the number of the page that was stored last.
func (s *Source) lastPage() uint64 { return s.counts.LastPage() }
