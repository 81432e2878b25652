// Package urlfrontier is a frontier for crawlers of others: it speaks the URLFrontier API
// of crawler-commons over gRPC, and hands out URLs in the order of a Scorer
// (docs/machines.md).
//
// In: a folder, a listener, and what makes a Scorer for a crawl. Out: the nineteen calls
// of the API. Which URL is next is package queues' to say, and what it is worth the
// Scorer's; this package keeps it all on disk and answers.
//
// A URL is acknowledged when it is on disk. One goroutine writes, many puts a commit. A
// Frontier and a Server are safe for concurrent use.
//
// Start with Open, then NewServer and Server.Serve.
//
// Files: frontier.go opening and closing; load.go what a folder has; record.go how a URL is
// written, queuerecord.go a queue, records.go the database; key.go the queue of a URL
// without a key. crowd.go connections; item.go what comes in; scorers.go who is asked; writer.go what goes to disk,
// room.go whether it has room. put.go what becomes of a URL; take.go what goes out; look.go
// what is there; remove.go what is to be gone; settings.go what clients say of queues.
// server.go listens; calls.go answers; streams.go takes what is put; told.go the log.
package urlfrontier
