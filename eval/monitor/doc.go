// Package monitor shows a crawl: while it runs, and when it has ended.
//
// In: what a crawler.Crawler says of its progress, and its result. Out: the
// line of a terminal; /status as JSON and /metrics for Prometheus, over HTTP. A
// session's result as JSON has it and as text, with the reason of a crawl that
// fetched nothing.
//
// It steers nothing: a crawl goes on whether or not somebody looks.
//
// Start with NewLine, Listen and ResultOf.
//
// Files: line.go the terminal's line; server.go status and metrics, with network.go,
// turns.go, whole.go and profile.go; result.go the result, with next.go and refreshed.go; failed.go
// why there is none; starts.go what became of the start pages.
package monitor
