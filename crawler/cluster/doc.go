// Package cluster is the protocol by which several agents make one crawl (paper C1).
//
// In: the time, and messages and values of an Exchange. Out: which partitions of the web an
// agent may fetch from, where links to the others go, and what it may spend. It makes no
// request and opens no store. docs/cluster.md has the whole of it.
//
// Start with NewAgent, which runs the protocol for an Engine. The protocol itself is node, a
// state machine without goroutine, clock or network, which the simulation of the tests drives.
//
// Files: exchange.go what agents share; partition.go sites and their partitions; engine.go
// what a crawler has to do; agent.go goroutines and the clock; event.go what a node is told
// and wants; node.go its steps; lease.go heartbeats, and what is seen of others; hand.go what
// is owned; table.go the table of owners; office.go, spread.go, ledger.go, ending.go what a
// coordinator does: who is dead, who owns what, budget and price, the end; outgoing.go,
// incoming.go links across; tell.go what engines say to each other besides; wire.go bytes.
package cluster
