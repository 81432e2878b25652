package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"fossick/collection"
	"fossick/crawlplan"
	"fossick/export/card"
)

// onCard are the settings that a data set card tells: those that decide which pages come,
// and when. Names of files, addresses of the network and whoever crawled are nobody's.
var onCard = []string{
	"score", "order", "rho", "explore", "threshold", "alike", "keywords", "links", "include", "exclude", "tld", "lang",
	"max-pages", "max-time", "max-depth", "max-pages-per-host", "max-pages-per-site", "min-harvest", "patience",
	"near-duplicates", "traps", "sitemaps", "sitemap-urls", "delay",
}

// card tells what a data set card says besides the pages.
func (c *exportCmd) card(stores []*collection.Source, choice *collection.Choice, left func() collection.Left) (card.Facts, error) {
	facts := card.Facts{Fossick: version, Choice: c.chose(choice), Purpose: string(choice.Purpose), Left: left}
	for _, from := range stores {
		one := card.Store{Name: from.Name, Crawl: from.Crawl()}
		saved, err := crawlplan.Stored(from.Store)
		if err != nil {
			return facts, err
		}
		if saved.Score != "" { // else it is no store of a crawl that was planned
			one.Settings = map[string]string{"start pages": strconv.Itoa(len(saved.Seed))}
			applied := saved.Applied()
			for _, name := range onCard {
				if value, ok := applied[name]; ok {
					one.Settings[name] = value
				}
			}
		}
		facts.Stores = append(facts.Stores, one)
	}
	return facts, nil
}

// chose are the flags that chose pages.
func (c *exportCmd) chose(choice *collection.Choice) (flags []string) {
	add := func(name, value string) {
		if value != "" {
			flags = append(flags, "--"+name+" "+value)
		}
	}
	if c.Kept {
		flags = append(flags, "--kept")
	}
	add("label", strings.Join(c.Label, ","))
	if c.MinScore != nil {
		add("min-score", fmt.Sprint(*c.MinScore))
	}
	add("lang", strings.Join(choice.Langs, ","))
	add("host", strings.Join(c.Host, ","))
	add("include", c.Include)
	if !choice.Since.IsZero() {
		add("since", choice.Since.UTC().Format(time.RFC3339))
	}
	if c.Limit > 0 {
		add("limit", strconv.Itoa(c.Limit))
	}
	return flags
}
