// Package cluster makes one crawl of several agents (paper C1).
//
// In: a crawl's settings for each agent, and an Exchange that they share. Out: what each agent's
// part came to. An agent owns partitions of the web, has a store of its own, and sends links to
// other partitions to their owners. docs/cluster.md has the whole of it.
//
// Start with New and Member.Run for an agent of many machines, with NewTeam and Team.Run for
// agents of one process. Task.Run brings agents together for other work, as TaskSession.Rank.
//
// Files, a member's first: member.go its crawl and the goroutines; node.go the protocol, a state
// machine that the simulation of the tests drives; lease.go heartbeats, and what is known of
// others; owners.go partitions of this agent; coordinator.go the table of all owners; budget.go
// pages, prices, the end; links.go parcels; wire.go bytes; status.go the exchange's values, read;
// handover.go partitions that come and go; worth.go the price of waiting; teach.go what members
// learn from each other; replica.go and replicate.go an agent's state, kept by another;
// inorder.go frames once and in order. team.go a crawl in one process. task.go and peer.go a
// task together; rank.go, rankpart.go and rankmessage.go BlockRank. exchange.go, hub.go and
// partition.go stand below all of it.
package cluster
