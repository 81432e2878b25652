// Package webstats computes statistics of a web collection, of page change, and of party surveys
// (paper E: E1, E5, E6).
//
// In: crawl records as streams that are read once: URLs with their exchanges, pages, hosts, and
// monitored pages with their visits. Out: tables as text, JSON, CSV and an HTML page with plots,
// with the paper's figures beside ours, and the seed list of the next survey.
//
// The package does not know the store, and its memory is bounded: names, degrees and candidates are
// sorted on disk. docs/watch.md defines each table, docs/change.md the figures of change. Start with
// Count, CountChanges or FindSeeds.
//
// Files: source.go records, count.go counting, spread.go distributions and degrees, groups.go sums by
// name; tables.go and sizes.go tables; write.go and report.go output. change.go visits to monitored
// pages, changerates.go change rates, changetables.go their output. survey.go parties, candidates.go
// seed candidates, seedlist.go seed lists.
package webstats
