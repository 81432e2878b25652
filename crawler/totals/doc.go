// Package totals counts what a crawl does.
//
// In: what happened, an event a method. Out: the store's counts, which go on over all
// sessions, and what this session alone has tried. It belongs to the crawl's owner. Start
// with New, then Restore and Begin.
package totals
