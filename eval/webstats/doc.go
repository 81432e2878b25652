// Package webstats counts what a collection of web pages is made of, how its pages change, and what
// a survey of parties found (paper E: E1, E5, E6).
//
// In: the records of crawls, as streams that are walked once: URLs with their exchanges, pages,
// hosts; watched pages with their visits. Out: tables, each with a name, columns and rows, as text,
// JSON, CSV and a page with plots, and the seed list of the next survey. The paper's figures stand
// beside ours where it has some.
//
// It knows no store and works in bounded memory: names without number, degrees and candidates are
// sorted on disk. docs/watch.md says what each table counts, docs/change.md how change is counted.
//
// Files: source.go and count.go what is counted, spread.go and groups.go in which memory; tables.go
// and sizes.go the tables; write.go and report.go how they are written. change.go visits to watched
// pages, changerates.go their rates, changetables.go what is shown of them. survey.go parties,
// candidates.go which URLs become seeds, seedlist.go what is written of them.
package webstats
