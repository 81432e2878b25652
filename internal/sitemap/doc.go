// Package sitemap reads what a site's owner wants to be known: sitemaps
// (sitemaps.org, version 0.9), indexes of them, RSS and Atom feeds, lists of URLs.
//
// In: a file, gzipped or not, from the network or a disk; anybody may have written it. Out:
// its entries one by one, within bounds whatever comes. Which of them are pages that
// anybody wants, and on which hosts, its callers decide.
//
// Start with Read; all is in sitemap.go.
package sitemap
