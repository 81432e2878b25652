// Package monitor shows a crawl while it runs and its result at the end. It controls nothing.
//
// In: a crawler's progress and result. Out: the terminal's status line; /status as JSON and /metrics
// for Prometheus, over HTTP; a session's result as JSON and text, with the reason when it fetched
// nothing. Start with NewLine, Listen and ResultOf.
//
// Files: line.go status line; server.go status and profiles; metrics.go metrics; result.go result;
// starts.go outcomes of start pages.
package monitor
