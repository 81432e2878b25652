//go:build ignore

// Everywhere compares crawl policies on every corpus and topic at hand:
// docs/data/everywhere.tsv.
//
//	... everywhere crawl CORPUS POLICY,... >> RAW    a line a crawl
//	... everywhere table RAW...                      the table, to standard output
//
// Corpora are wikispeedia, biology (its sub-topics), webkb, debdocs, debdocs-capped,
// uci_ics and msdocs. SETS takes other than three draws of training and start pages each.
// A row's budgets are half of what there is on topic and the whole, 1,000 pages at most.
// Of a crawl that RAW has twice the last counts.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"
	"strings"

	"fossick/eval/lab/plan"
)

// most is how many pages a crawl has at most.
const most = 1000

// area is a corpus's topics by half: even are those that constants may be tuned on.
type area struct {
	set     string
	tuned   []string
	heldOut []string
	perHost uint64
	judge   bool
}

var areas = map[string]area{
	"wikispeedia":    {set: "wikispeedia", heldOut: []string{"Astronomy", "Biology", "IT", "Religion"}},
	"biology":        {set: "wikispeedia", tuned: []string{"Science.Biology.Birds", "Science.Biology.Mammals", "Science.Biology.Health_and_medicine", "Science.Biology.Plants", "Science.Biology.Insects_Reptiles_and_Fish", "Science.Biology.Dinosaurs"}},
	"webkb":          {set: "webkb", tuned: []string{"student", "faculty", "course", "project"}},
	"debdocs":        {set: "debdocs", heldOut: []string{"programming", "science", "computing", "finance"}},
	"debdocs-capped": {set: "debdocs", heldOut: []string{"programming", "science", "computing", "finance"}, perHost: 60},
	"uci_ics":        {set: "uci_ics", judge: true, heldOut: []string{"student", "faculty", "course"}},
	"msdocs": {set: "msdocs",
		tuned: []string{
			"topic:accounting", "topic:electronic mail", "topic:3d graphics", "topic:video", "topic:network drivers", "topic:word processing",
			"vba/access", "ddi/debugger", "win32/medfound", "cpp/mfc", "ddi/stream",
			"win32/hyperv_v2", "win32/shell", "win32/com", "win32/netmon2", "biztalk/accelerator-hl7",
		},
		heldOut: []string{
			"topic:spreadsheets", "topic:compilers", "topic:project management", "topic:directory services", "topic:handwriting and speech",
			"topic:accessibility", "topic:bluetooth",
			"win32/directshow", "officeclient/access", "vba/language", "officeps/exchange", "drivers/debuggercmds",
			"drivers/kernel", "powershell/docs-scripting", "cpp/code-quality", "iis/wmi-provider", "aspnet/mvc",
		}},
}

func everywhere(ctx context.Context, arg []string) error {
	switch {
	case len(arg) == 3 && arg[0] == "crawl":
		return crawlArea(ctx, arg[1], strings.Split(arg[2], ","))
	case len(arg) > 1 && arg[0] == "table":
		return areaTable(arg[1:])
	}
	return errors.New("everywhere crawl CORPUS POLICY,... or table RAW...")
}

func crawlArea(ctx context.Context, name string, policies []string) error {
	a, err := find(areas, name)
	if err != nil {
		return err
	}
	b, err := open(ctx, name, a.set, a.judge)
	if err != nil {
		return err
	}
	log.Printf("%s: %d pages", name, len(b.web.Rows))
	for _, topic := range some(slices.Concat(a.tuned, a.heldOut)) {
		if err := crawlTopic(ctx, b, a.perHost, topic, policies); err != nil {
			return fmt.Errorf("%s, %s: %w", name, topic, err)
		}
	}
	return nil
}

// crawlTopic prints a line for each crawl and budget: corpus, topic, pages on topic, budget,
// policy, set, training pages on topic, pages on topic found.
func crawlTopic(ctx context.Context, b *bench, perHost uint64, topic string, policies []string) error {
	sets := number("SETS", 3)
	s, err := b.prepare(ctx, plan.Options{
		Topic: topic, Policy: policies, TrainSets: sets, StartSets: sets, Pages: most, MaxPagesPerHost: perHost,
	})
	if err != nil {
		return err
	}
	whole := min(most, s.Draw.Targets)
	s.Pages = whole
	crawls, err := s.Experiment.Run(ctx, nil)
	if err != nil {
		return err
	}
	for i, all := range crawls {
		for set, c := range all {
			positives := 0
			for n, training := range s.Draw.Training[s.Draw.ModelOf(set)] {
				if training && s.Draw.Relevant[n] {
					positives++
				}
			}
			for _, budget := range []int{whole / 2, whole} {
				found, _ := foundIn(c, budget)
				fmt.Printf("%s\t%s\t%d\t%d\t%s\t%d\t%d\t%d\n", b.name, topic, s.Draw.Targets, budget, policies[i], set, positives, found)
			}
		}
	}
	log.Printf("%s %s: %d on topic", b.name, topic, s.Draw.Targets)
	return nil
}
