// Package keeper brings what an agent's store knows of URLs to another agent, its keeper, and
// keeps it there as a replica (docs/cluster.md).
//
// In: the changes of each commit, in the outbox of the store under store.KeeperPart, and who
// the keeper is. Out: how far the keeper has them on disk; at the keeper, a store to go on from.
// Messages may come twice, late, out of order or not at all. It knows no protocol of owners.
//
// Start with NewSender at the owner, New at the keeper.
//
// Files: wire.go what they say; sender.go what an owner sends, with waiting.go; session.go frames on their way
// to one keeper; keeper.go the replicas that an agent has; replica.go one of them.
package keeper
