// Package relevance says how far a page is on topic, by the words K of a topic, and defines a crawl
// policy.
//
// In: pages as package page makes them, a topic's words K, the score of the page that led there.
// Out: the degree of relevance R (paper A eq. 1) with its terms. Package known has the policies of
// the literature, learned the one that learns during the crawl, propose start pages.
//
// It opens nothing, and the crawler does not import it: crawler/policy adapts its scorers.
//
// Files: keywords.go K and λ; paper.go eq. 1 as published, by all parents too, and policies.
package relevance
