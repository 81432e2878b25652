// Package page reads what was fetched: bytes in, a Page out. A Page has
// charset, text, title, language and links with their anchors and context
// (papers B, E6). The package also brings URLs into normal form, so that one
// page has one name (paper C2).
//
// In: the body of an answer and its Content-Type. Out: a Page, whose Fields
// are all that a classifier reads and whose Links are all that a crawl follows.
// The room opens no file, knows no network and keeps no state; its functions are
// safe for concurrent use.
//
// Parse is one pass over the bytes, without a tree. It keeps open only a link,
// a heading, and three kinds of region. So nesting costs nothing and time is
// linear whatever a page does (paper D4). Tags are read by the tokenizer of
// x/net/html, fed one at a time. See docs/page.md for what counts as text,
// context and navigation, and how forgotten ends are mended.
//
// Files: url.go normal form and references; scheme.go addresses as people write
// them; path.go percent-encoding, dot segments, queries; host.go names and
// addresses. drop.go session ids; decode.go character sets; script.go URLs in scripts; scan.go text and
// tags; mend.go forgotten ends; fold.go white space and entities; parse.go the
// pass. element.go, links.go, nav.go, meta.go what an element does; region.go
// where it does. mark.go places in the text, linkset.go links, context.go the
// words around them; lang.go, function.go and cyrillic.go language; content.go
// checksum and sketch. counter.go its votes; prose.go text without menus;
// minhash.go signatures; near.go near-duplicates; key.go a URL's number.
package page
