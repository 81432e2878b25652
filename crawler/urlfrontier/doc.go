// Package urlfrontier is a frontier for other crawlers. It serves the URLFrontier API of
// crawler-commons over gRPC, and hands out URLs in the order of a Scorer (docs/machines.md).
//
// In: a folder, a listener, and a function that makes a Scorer for each crawl. Out: the nineteen
// calls of the API. A URL is acknowledged once it is on disk. One goroutine writes, with many
// puts in a commit. Frontier and Server are safe for concurrent use.
//
// Start with Open, then NewServer and Server.Serve; NewScorer makes a Scorer from a crawl policy.
//
// Files: frontier.go opening, and all calls except puts; put.go puts; record.go the format on
// disk; queues.go the order of URLs, a state machine without disk or clock; scorer.go priorities
// from a crawl policy; server.go the API over gRPC.
package urlfrontier
