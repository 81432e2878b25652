// Package urlfrontier is a frontier for other crawlers: it speaks the URLFrontier API of
// crawler-commons over gRPC, and hands out URLs in the order of a Scorer (docs/machines.md).
//
// In: a folder, a listener, and a function that makes a Scorer for a crawl. Out: the nineteen
// calls of the API. A URL is acknowledged when it is on disk. One goroutine writes, many puts a
// commit. A Frontier and a Server are safe for concurrent use.
//
// Start with Open, then NewServer and Server.Serve; NewScorer makes a Scorer of a crawl policy.
//
// Files: frontier.go opening, and calls but puts; put.go what becomes of a URL that is put;
// record.go how it is written; queues.go the order of URLs, a state machine without disk and
// clock; scorer.go priorities, by a crawl policy; server.go the API over gRPC.
package urlfrontier
