// Package relevance says how far a page is on topic, by the words K of a topic, and what a
// crawl policy is.
//
// In: pages as package page makes them, a topic's words K, the score of the page that led
// there. Out: the degree of relevance R (paper A eq. 1) with the terms that it is made of.
// The policies of the literature are in known/, that which learns while the crawl goes on
// in learned/; package policy names all of them.
//
// It opens nothing and fetches nothing, and the crawler does not import it: package
// policy makes its scorers fit the crawler's Scorer.
//
// Files: keywords.go K and λ; paper.go eq. 1 as published, papermean.go by all parents;
// policy.go what a policy is.
package relevance
