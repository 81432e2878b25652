// Package exporttest holds what the tests of formats share: a place in memory, and a run of
// one format.
//
// Start with Shelf and Write.
//
// Files: shelf.go both.
package exporttest
