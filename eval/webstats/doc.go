// Package webstats counts what a collection of web pages is made of (paper E, E5).
//
// In: the records of crawls, as streams: URLs with their exchanges, pages, hosts. Out:
// tables, each with a name, columns and rows, as text, JSON, CSV and a page with plots.
// The paper's figures stand beside ours where it has some.
//
// It knows no store. Each stream is walked once, in bounded memory: names without
// number are counted by sorting on disk, degrees too. docs/watch.md says what each table
// counts, and what is estimated.
//
// Start with Count. Files: source.go what is counted; count.go the walks; urls.go, pages.go
// and hosts.go what each adds; parties.go pages a seed; place.go names and lengths in a URL; header.go the server's
// name. spread.go distributions, groups.go counts by name, degrees.go links, powerlaw.go
// and lognormal.go fits. table.go tables; tables.go and the files that begin with table make
// them; paper.go the paper's figures. text.go, csv.go, report.go and plots.go write them.
package webstats
