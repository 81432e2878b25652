// Package rights reads the statements of owners about the use of their pages, and says which
// purposes they refuse.
//
// In: statements as they were found, where and what: a line of robots.txt or tdmrep.json, a
// header field, a meta element, a link to a licence. Out: whether one of them refuses a purpose, and the
// licence. Nothing is decided where nothing is said.
//
// Known are Content-Signal (contentsignals.org) and Content-Usage (draft-ietf-aipref-attach).
// So are the tokens by which robots.txt speaks to uses instead of crawlers; X-Robots-Tag and
// meta robots with noai, noimageai and noarchive; the TDM Reservation Protocol.
// docs/politeness.md has the table.
package rights
