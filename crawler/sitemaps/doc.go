// Package sitemaps decides which sitemap of a host is read next, and when.
//
// In: what robots.txt names, how exchanges for sitemaps ended, what the files say. Out:
// the next sitemap, once it is its turn, and the URLs that it names. What is known of a
// host stands in Host; Record is the part that the store keeps. It asks nobody, and knows
// neither queue nor store's batches.
//
// A sitemap may lie at another host when robots.txt names it there (sitemaps.org, cross
// submission): that is a foreign one.
//
// Files: host.go which and when; reading.go what a file says.
package sitemaps
