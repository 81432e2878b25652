// Package demo makes the built-in demo set: a small web of articles on four themes and off them
// (docs/datasets.md).
//
// In: a seed. Out: a Web: its pages with markup, labels and links, and what goes wrong on a real web:
// redirects, errors, robots.txt, copies, traps. The same seed gives the same bytes. Package datasets
// makes a set of it.
//
// Start with New. Files: build.go New, hosts and links; page.go pages, texts (of the folder pages)
// and markup in four styles; odd.go what goes wrong, and what a caller sees.
package demo
