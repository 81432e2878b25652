// Package known has the crawl policies of the literature, each as published.
//
// In: pages that were fetched, with how far each is on topic, and a judge of texts or a
// topic's keywords. Out: priorities of their links, and of URLs that wait. Each policy is
// a relevance.Policy, remembers a bounded number of URLs, and is safe for concurrent use.
//
// Files: one a policy: bestfirst.go, shark.go, fish.go, ache.go, contextgraph.go,
// infospiders.go, hits.go, opic.go, random.go; tokens.go and bayes.go what some of them
// learn by; memory.go how much they remember.
package known
