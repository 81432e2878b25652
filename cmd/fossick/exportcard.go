package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"fossick/crawler/plan"
	"fossick/eval"
	"fossick/export"
	"fossick/store"
)

// onCard are the settings that a data set card shows: those that decide which pages are fetched, and
// when. File names, network addresses and the operator's identity stay private.
var onCard = []string{
	"score", "order", "rho", "threshold", "keywords", "links", "include", "exclude", "tld", "lang",
	"max-pages", "max-time", "max-depth", "max-pages-per-host", "max-pages-per-site", "min-harvest", "patience",
	"near-duplicates", "traps", "sitemaps", "delay",
}

func (c *exportCmd) card(ctx context.Context, stores []*export.Source, choice *export.Choice, left func() export.Left) (export.CardFacts, error) {
	facts := export.CardFacts{Fossick: version, Choice: c.chose(choice), Purpose: string(choice.Purpose), Left: left}
	for _, from := range stores {
		one := export.CardStore{Name: from.Name, Crawl: from.Crawl()}
		saved, err := plan.Stored(from.Store)
		if err != nil {
			return facts, err
		}
		if saved.Score != "" { // otherwise the store has no crawl settings
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
	return facts, c.judge(ctx, stores, facts.Stores)
}

// judge adds harvest and recall as eval measures them from the crawls' own labels; crawls of one topic
// share a recall.
func (c *exportCmd) judge(ctx context.Context, stores []*export.Source, told []export.CardStore) error {
	together := map[string][]int{}
	for i, from := range stores {
		if topics := from.Crawl().Topics; len(topics) > 0 {
			key := strings.Join(topics, ",")
			together[key] = append(together[key], i)
		}
	}
	for _, places := range together {
		sources := eval.Sources{Step: func(string) func() { return func() {} }}
		at := map[string]*store.Store{}
		for _, i := range places {
			sources.Stores = append(sources.Stores, c.Stores[i])
			at[c.Stores[i]] = stores[i].Store
		}
		sources.Open = func(dir string) (*store.Store, func() error, error) {
			return at[dir], func() error { return nil }, nil // the collection closes it
		}
		crawls, err := eval.ReadCrawls(ctx, sources)
		if c.Partial && errors.Is(err, store.ErrDamaged) {
			continue // their figures stay unknown
		}
		if err != nil {
			return err
		}
		result := crawls.Measure(0)
		if len(places) == 1 {
			result.Stores = []eval.Figures{result.Figures}
		}
		for k, i := range places {
			told[i].Harvest, told[i].Recall = figuresOf(&result.Stores[k])
		}
	}
	return nil
}

func figuresOf(f *eval.Figures) (export.Harvest, *export.Recall) {
	h := export.Harvest{Relevant: f.Relevant, Fetched: f.Fetched, Share: f.Harvest, CI: (*[2]float64)(f.HarvestCI)}
	e := f.RecallEstimate
	if e == nil {
		return h, nil
	}
	return h, &export.Recall{Value: e.Value, CI: e.CI, Method: e.Method, Caution: e.Caution}
}

func (c *exportCmd) chose(choice *export.Choice) (flags []string) {
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
