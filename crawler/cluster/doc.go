// Package cluster runs one crawl on several agents (paper C1).
//
// In: each agent's crawl settings and an Exchange that all agents share. Out: the result of each
// agent's part. An agent owns partitions of the web, has its own store, and sends links to other
// partitions to their owners. See docs/cluster.md.
//
// For agents on several machines, start with New and Member.Run; for agents of one process, with
// NewTeam and Team.Run. Task.Run brings agents together for other work, such as TaskSession.Rank.
//
// Files of a member: member.go the crawl and its goroutines; node.go the protocol, a state
// machine that the tests also drive in a simulation; lease.go heartbeats and the state of other
// agents; owners.go partitions, and those of this agent; coordinator.go the table of owners; budget.go
// page grants, prices and the end; links.go sending and receiving parcels; wire.go encodings;
// status.go reading the exchange's values; handover.go partitions gained and released; worth.go
// the price of waiting; teach.go what members learn from each other; replica.go and replicate.go
// copies of an agent's state at another agent; inorder.go frames once and in order. Others:
// team.go a crawl in one process; task.go and peer.go a common task; rank.go and rankpart.go
// BlockRank; exchange.go and hub.go the ground for all.
package cluster
