// Package team makes one crawl of several agents in one process.
//
// In: the options of each agent's crawl, with a store and a scorer of its own; what the
// whole may spend. Out: what it came to. Each agent has the sites of some partitions, for as
// long as the crawl is told to have so many agents. Links go from outbox to owner, and what
// the scorers learn and people say to all others. Start with New, then Run.
//
// Files: team.go the agents and their rounds; parcels.go links from one to another;
// budget.go what each may spend; pricer.go what better links are waited for;
// teach.go what they learn; merge.go what they came to together.
package team
