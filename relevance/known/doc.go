// Package known implements crawl policies from the literature as published.
//
// In: fetched pages with their similarity to the topic, and a judge of texts or keywords. Out: priorities
// of links and queued URLs. Each policy is a relevance.Policy with bounded memory, and safe for concurrent
// use.
//
// Files: walkers.go Fish-Search, Shark-Search and InfoSpiders; classifiers.go ACHE, Anthelion, best first
// and context graphs; graph.go HITS, OPIC, in-links by host, and random order.
package known
