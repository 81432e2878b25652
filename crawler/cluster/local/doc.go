// Package local is a cluster.Exchange of agents in one process: for tests, the lab, and
// crawls by several agents on one machine.
//
// In: messages and values. Out: the same, once each. Mailboxes are bounded: what does not
// fit into one is lost, as a network may lose it. It has no goroutine and reads no clock.
// Start with New, then Open an exchange for each agent.
//
// Files: hub.go what is shared; exchange.go what an agent has of it.
package local
