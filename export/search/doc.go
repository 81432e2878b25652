// Package search finds pages of a store by their words.
//
// In: a store at one moment, and a query as a person writes it. Out: the best pages, each
// with the part of its text that answers.
//
// The index is an SQLite database with full-text search (FTS5) in the folder search of the
// store. It has no text, only which stem stands where; what is shown of a page is read from
// the store. Words are cut and stemmed here, by the language of the page. It follows from
// the store alone, so an index that is damaged or of another version is made anew.
//
// Start with Fresh, then Index.Find and Marker.Snippet.
//
// Files: index.go the database, and how it follows the store; query.go queries, their words and
// FTS5's form of them; find.go finds, orders and shows pages.
package search
