// Package page turns a fetched answer into a Page, with charset, text, title, language and links
// with anchors and context (papers B, E6), and brings URLs into normal form, so that a page has one
// name (paper C2).
//
// In: the body of an answer and its Content-Type. Out: a Page, whose Fields are all that a
// classifier reads and whose Links are all that a crawl follows. The package opens no file, knows no
// network and keeps no state; its functions are safe for concurrent use.
//
// Parse is one pass over the bytes, without a tree. It keeps open only a link, a heading, and three
// kinds of region, so nesting costs nothing and time is linear (paper D4). docs/page.md says what
// counts as text, context and navigation.
//
// Files: parse.go the pass; scan.go text, tags, forgotten ends, white space; element.go what an
// element does; linkset.go links, their anchors and context; meta.go <meta>, <link>, rights,
// scripts; shell.go pages made by scripts; lang.go language; charset.go character sets; content.go
// checksums, sketches, near-duplicates; url.go normal form; drop.go parameters to drop, patterns of
// URLs.
package page
