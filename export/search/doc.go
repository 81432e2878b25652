// Package search finds pages of a store by their words.
//
// In: a store snapshot and a user's query. Out: the best pages, each with a snippet.
//
// The index is an SQLite database with full-text search (FTS5) in the store's folder search. It holds
// stem positions but no text, which snippets read from the store. This package tokenises and stems by
// each page's language. The index derives from the store alone, so a damaged or outdated one is rebuilt.
//
// Start with Fresh, then Index.Find and Marker.Snippet. Files: index.go the database and its update;
// query.go queries and their FTS5 form; find.go search, ranking and snippets.
package search
