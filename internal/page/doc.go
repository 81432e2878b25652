// Package page parses a fetched answer into a Page: charset, text, title, language, and links with
// anchors and context (papers B, E6). It also normalises URLs, so that a page has one name (paper
// C2).
//
// In: the body of an answer and its Content-Type. Out: a Page, whose Fields are the input of a
// classifier and whose Links are those that a crawl may follow. The package opens no file, knows no
// network and keeps no state; its functions are safe for concurrent use.
//
// Parse makes one pass over the bytes, without a tree. It tracks only an open link, a heading, and
// three kinds of region, so nesting costs nothing and time is linear (paper D4). docs/page.md
// defines text, context and navigation.
//
// Files: page.go the Page; parse.go the pass; scan.go text, tags, missing ends, white space;
// element.go elements; linkset.go links, anchors and context; meta.go <meta>, <link>, rights,
// scripts; shell.go pages made by scripts; island.go where thin pages have data, islanddata.go what
// of it is for readers, islandjs.go data as JavaScript; lang.go language; charset.go character sets;
// mediatype.go media types; content.go checksums, sketches, near-duplicates; url.go normal form;
// ipaddr.go addresses; drop.go parameters to drop, patterns of URLs; rights.go uses that owners
// refuse; sitemap.go and xml.go sitemaps and feeds; recent.go a bounded cache.
package page
