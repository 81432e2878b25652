// Package demo makes the built-in demo set: a small web of articles on four themes and
// off them (docs/datasets.md).
//
// In: a seed. Out: a Web, its pages with markup, labels and links, and what goes wrong
// on a real web: redirects, errors, robots.txt, copies, traps. The same seed gives the
// same bytes. It knows no other room; package datasets makes a set of it.
//
// Start with New. Files: web.go what others see; build.go New; site.go the
// table of hosts; prose.go the texts, which lie in pages/. page.go the pages
// around them; links.go links; odd.go what goes wrong; render.go markup in four
// styles.
package demo
