// Package peers brings agents together for a task of all of them, as the ranking of all
// their pages, and carries messages between them: each once and in order, over an exchange
// that loses, doubles and mixes them up (docs/graph.md).
//
// In: an exchange, which agents are awaited, the work. Out: the work is called with a number
// for each agent, and a Peer that carries messages. Who dies and comes back is let in again;
// when the leader died, all begin anew. It knows nothing of what messages say.
//
// Start with Run.
//
// Files: run.go a task from begin to end; roster.go who takes part, a value of the exchange,
// with join.go how one gets into it, and watch.go; peer.go messages to and from others, with link.go, one of them; wire.go what is sent.
package peers
