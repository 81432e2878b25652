// Package rescore decides when the queue hears of what a scorer has learned, and which
// URLs of it.
//
// In: how many pages are stored, how long the queue is. Out: how many URLs are to have a
// new priority now, and that priority. It owns how far the passes over the queue are, and
// sees no queue. Start with New, then Due, Priority, Done; docs/frontier.md says what a
// pass costs.
//
// Files: passes.go when, and of which URLs; spread.go which are the best.
package rescore
