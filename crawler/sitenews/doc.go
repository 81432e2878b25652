// Package sitenews says what hosts' sitemaps and feeds tell of pages that are stored already.
//
// In: what such a source says of a page (lastmod), and what a visit finds then. Out: whether
// it says that the page has changed since it was seen, and how far a host is to be believed:
// some name changes that are none, some hide them. It asks nobody.
//
// Files: sources.go whom to ask; claims.go what they said, held against visits.
package sitenews
