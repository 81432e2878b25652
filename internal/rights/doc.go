// Package rights reads site owners' statements about the use of their pages, and tells which
// purposes they refuse.
//
// In: statements with their place: a line of robots.txt or tdmrep.json, a header field, a meta
// element, a link to a licence. Out: whether one of them refuses a purpose, and the licence.
// Without a statement nothing is refused.
//
// It supports Content-Signal (contentsignals.org), Content-Usage (draft-ietf-aipref-attach),
// robots.txt tokens for uses instead of crawlers, noai, noimageai and noarchive in X-Robots-Tag and
// meta robots, and the TDM Reservation Protocol. docs/politeness.md has the table.
package rights
