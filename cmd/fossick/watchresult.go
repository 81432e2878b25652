package main

import (
	"fossick/crawler"
	"fossick/eval"
	"fossick/eval/monitor"
	"fossick/eval/webstats"
)

// watchResult is how the pages of a store change, as JSON has it.
type watchResult struct {
	Store  string `json:"store"`
	Pages  int64  `json:"pages"`  // that are watched
	Visits int64  `json:"visits"` // after the one that stored each
	Rounds int    `json:"rounds"` // that have ended

	NewPages int64 `json:"new_pages"` // of these pages, stored since the first round began

	SS     *float64 `json:"ss"` // paper E, eq. 1, of all pages; of start pages, which are paper E's, in Seeds
	FF     *float64 `json:"ff"` // eq. 2
	NextSS *float64 `json:"next_ss"`
	NextFF *float64 `json:"next_ff"` // both counted from visit to visit

	Downloads []int      `json:"downloads"` // S(0) to S(N)
	Seeds     watchSeeds `json:"seeds"`

	Gone  int64                `json:"gone"`  // 404 or 410 when asked last
	Moved int64                `json:"moved"` // elsewhere when asked last
	Back  int64                `json:"back"`  // were one of both, and came back
	All   webstats.ChangeGroup `json:"all"`

	ByRound   []webstats.RoundAsked `json:"by_round"`
	Freshness webstats.Freshness    `json:"freshness"`

	Intervals map[string]map[string]webstats.ChangeGroup `json:"intervals"` // by table, by name

	Changes *watchChanges `json:"changes"` // since --since; null without

	News *watchNews `json:"news"` // what sitemaps and feeds told

	Refreshed  *monitor.Refreshed `json:"refreshed"` // of this session; null without one
	Stopped    crawler.Stop       `json:"stopped_because,omitempty"`
	Politeness *eval.Politeness   `json:"politeness"` // of the whole store; null without a session

	known              *webstats.Changes
	history, csv, html string
}

// watchSeeds is of the start pages.
type watchSeeds struct {
	SS        *float64 `json:"ss"`
	FF        *float64 `json:"ff"`
	Downloads []int    `json:"downloads"`
}

func newWatchResult(c *watchCmd, k *webstats.Changes, told *watchNews, visited *monitor.Result) *watchResult {
	r := &watchResult{
		Store: c.Store, Pages: k.Pages, Visits: k.Visits, Rounds: k.Rounds, SS: k.SS, FF: k.FF, NextSS: k.NextSS, NextFF: k.NextFF,
		Downloads: k.Downloads, Seeds: watchSeeds{k.SeedSS, k.SeedFF, k.SeedDownloads},
		Gone: k.Gone, Moved: k.Moved, Back: k.Back, All: k.All, ByRound: k.ByRound, Freshness: k.Freshness,
		Intervals: map[string]map[string]webstats.ChangeGroup{
			"seed_tld": byName(k.SeedTLD), "seed_second_level": byName(k.SeedSecond), "tld": byName(k.TLD), "second_level": byName(k.Second), "depth": byName(k.Depth), "link_kind": byName(k.Kind),
		},
		News: told, known: k, history: c.History, csv: c.CSV, html: c.HTML,
	}
	if visited != nil {
		r.Refreshed, r.Stopped, r.Politeness = visited.Refreshed, visited.Stopped, visited.Politeness
	}
	return r
}

func byName(groups []webstats.ChangeGroup) map[string]webstats.ChangeGroup {
	named := make(map[string]webstats.ChangeGroup, len(groups))
	for _, g := range groups {
		named[g.Name] = g
	}
	return named
}
