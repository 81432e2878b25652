package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// Problem is something in a store that cannot be.
type Problem struct {
	Key    string `json:"key"`    // of the record, printable
	What   string `json:"what"`   // is wrong
	Repair string `json:"repair"` // what Repair does about it

	URL  string `json:"url,omitempty"` // of the page that cannot be read
	Lost bool   `json:"-"`             // records of unknown URLs may be gone with it
}

// Verify checks every record against those that it belongs with, and returns
// what is wrong, in the order of the passes. It changes nothing. The error is
// the store's or ctx's own, not a finding.
func (s *Store) Verify(ctx context.Context) ([]Problem, error) {
	in := newInspection(s, false)
	in.problems = slices.Clone(s.damaged)
	err := in.run(ctx)
	return in.problems, err
}

// inspection is one run over a store. A pass sees what the passes before it
// mended.
type inspection struct {
	*findings
	numbers  renumbering
	counts   Counts // as the records say
	born     idSet  // URLs that there are
	births   uint64 // how many
	requeued idSet  // URLs that were queued again
	queued   uint64 // how many
	gone     lostRecords
}

func newInspection(s *Store, mend bool) *inspection {
	return &inspection{
		findings: &findings{batches: batches{s: s}, mend: mend}, numbers: renumbering{s: s, moved: map[uint64]uint64{}},
		counts: Counts{States: map[string]uint64{}}, born: idSet{}, requeued: idSet{},
	}
}

func (in *inspection) run(ctx context.Context) error {
	made, hosts := derived{in.findings}, &hostCheck{findings: in.findings}
	for _, pass := range []func(context.Context) error{
		in.info, in.told, in.urls, in.strays, in.seen, in.outbox, in.marks, in.forgets, in.holders, in.addresses, in.rounds, in.chances, made.labels, in.pages, in.leftovers, in.versions, in.repeats, made.ranks, made.near, hosts.hosts, hosts.exchanges, hosts.named, in.totals,
	} {
		if err := pass(ctx); err != nil {
			in.cancel()
			return err
		}
		if err := in.flush(); err != nil {
			return err
		}
	}
	return nil
}

// info checks that the database has the store's Info.
func (in *inspection) info(context.Context) error {
	if in.s.infoLost == nil {
		return nil
	}
	err := in.found(key(keyInfo), in.s.infoLost.Error(), "taken from "+infoFile, func(b *Batch) error { return b.put(key(keyInfo), in.s.info) })
	if in.mend {
		in.s.infoLost = nil
	}
	return err
}

// totals compares the running totals with what the records say.
func (in *inspection) totals(ctx context.Context) error {
	if in.mend && len(in.problems) > 0 { // fates have changed since births counted them
		again := newInspection(in.s, false)
		if err := again.urls(ctx); err != nil {
			return err
		}
		in.counts.States, in.counts.Skipped = again.counts.States, again.counts.Skipped
	}
	had, err := in.s.Counts()
	if finding(err) != nil {
		return err
	}
	want := had
	want.URLs = max(had.URLs, in.counts.URLs) // numbers are never given twice
	want.Lost = want.URLs - in.births
	in.gone.urls = want.Lost - min(want.Lost, had.Lost)
	if gone := had.Pages - min(had.Pages, in.counts.Pages); gone > in.queued {
		in.gone.pages = gone - in.queued
	}
	want.Dropped = in.counts.Dropped
	want.Pages, want.Relevant, want.Bytes = in.counts.Pages, in.counts.Relevant, in.counts.Bytes
	want.States, want.Skipped, want.NearDuplicates = in.counts.States, in.counts.Skipped, in.counts.NearDuplicates
	want.Topics = in.counts.Topics
	if err == nil && sameTopics(had.Topics, want.Topics) && had.URLs == want.URLs && had.Pages == want.Pages && had.Dropped == want.Dropped && had.Relevant == want.Relevant &&
		had.Bytes == want.Bytes && had.Skipped == want.Skipped && had.NearDuplicates == want.NearDuplicates && had.Lost == want.Lost && maps.Equal(had.States, want.States) {
		return nil
	}
	what := fmt.Sprintf("the totals are %s, but the records add up to %s", short(had), short(want))
	return in.found(key(keyCount), what, "counted again", func(b *Batch) error { return b.PutCounts(&want) })
}

func short(c Counts) string {
	dropped := ""
	if c.Dropped > 0 {
		dropped = fmt.Sprintf(" and %d dropped", c.Dropped)
	}
	return fmt.Sprintf("%d URLs, %d of them lost, %d pages%s (%d relevant%s, %d bytes), %d skipped, %d near-duplicates, states %v", c.URLs, c.Lost, c.Pages, dropped, c.Relevant, byTopic(c.Topics), c.Bytes, c.Skipped, c.NearDuplicates, c.States)
}
