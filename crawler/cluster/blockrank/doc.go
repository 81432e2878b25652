// Package blockrank ranks the pages of several agents together (paper C4): local ranks by
// the agents, the rank of the agents' blocks at a coordinator, and both again with what has
// changed, until the residual is below ε. It comes to the PageRank of all links together.
//
// In: of each agent its links, by numbers of its own, and a 64-bit key of each URL; and
// peers that carry bytes. Out: the scores of the pages that the agent owns. It opens
// no store and no connection. docs/graph.md has the whole of it.
//
// Start with Rank, all agents in one process. Over a network: New and Part.Run with each
// agent, Coordinate with one.
//
// Files: part.go what an agent holds; meet.go who owns which page; sweep.go local
// ranks; round.go an agent's part in a round; coordinator.go; blocks.go the blocks' graph; foresight.go where
// masses go; message.go what is sent; peers.go how, and what happens when an agent dies; local.go
// agents in one process.
package blockrank
