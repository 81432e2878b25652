// Package collection reads what crawls have collected, for whoever takes it elsewhere.
//
// In: the folders of one or several stores. Out: the chosen pages as a stream, each with
// what is known of it. The order is that of the crawl, store after store.
//
// A Collection is one consistent moment of each store: a store that nobody writes, or the
// copy that a running crawl hands out. Bodies and main text are worked out by as many
// goroutines as there are processors, and handed on in order. Memory is bounded by the
// pages in flight, a few a goroutine.
//
// This room alone knows keys and records of stores; formats see pages. It judges nothing
// and writes nothing.
//
// Start with Open, then Collection.Select and Selection.Pages.
//
// Files: collection.go opens stores; crawl.go what they say of their crawls; choice.go which
// pages; selection.go what is chosen; numbering.go its nodes; pages.go the stream; page.go a
// page; read.go what is read of one,
// exchange.go how it was asked for; refs.go the numbers of URLs in a store, fingerprint.go
// its moment.
package collection
