// Package known has the crawl policies of the literature, each as published.
//
// In: fetched pages with how far each is on topic, and a judge of texts or a topic's keywords. Out:
// priorities of their links, and of URLs that wait. Each policy is a relevance.Policy, remembers a
// bounded number of URLs, and is safe for concurrent use.
//
// Files: walkers.go Fish-Search, Shark-Search and InfoSpiders, by the text around a link;
// classifiers.go ACHE, Anthelion, best first and context graphs, which learn classifiers; graph.go
// HITS, OPIC, in-links by host, and random order.
package known
