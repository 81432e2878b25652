// Package broadcast brings what each agent of a crawl says to all others, once each and in
// order, over messages that get lost, doubled, late and out of order.
//
// In: items to be said, who lives, messages that came. Out: messages to send, items heard. It
// has no goroutine, no clock and no network: its owner calls Round every few seconds. What
// it holds for an agent that does not answer is bounded.
//
// A run is an agent's process, from its start to its end. Runs of an agent rise. Who begins
// knows nothing, so the first items for a run are all that was said so far.
//
// Start with New. Files: broadcast.go what is said; hear.go what is heard; message.go bytes.
package broadcast
