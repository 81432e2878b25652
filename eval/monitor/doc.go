// Package monitor shows a crawl: while it runs, and when it has ended.
//
// In: what a crawler.Crawler says of its progress, and its result. Out: the line of a terminal;
// /status as JSON and /metrics for Prometheus, over HTTP; a session's result as JSON and as text,
// with the reason of a crawl that fetched nothing. It steers nothing.
//
// Start with NewLine, Listen and ResultOf. Files: line.go the terminal's line; server.go status,
// metrics and profiles; result.go the result; starts.go what became of the start pages.
package monitor
