// Package demo makes the built-in demo set: a small web of articles on four themes and off them
// (docs/datasets.md).
//
// In: a seed. Out: a Web with pages (markup, labels, links), redirects, errors, robots.txt, copies and
// traps. The same seed gives the same bytes. Package datasets turns it into a set.
//
// Start with New. Files: build.go New, hosts and links; page.go pages, texts (from the folder pages)
// and four markup styles; odd.go redirects, errors and traps, and the exported types.
package demo
