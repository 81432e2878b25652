// Package relevance measures how far a page is on topic by the topic's keywords K, and defines crawl
// policies.
//
// In: parsed pages, keywords K, and the score of the page that led to each. Out: the degree of relevance
// R (paper A eq. 1) with its terms. Package known has the policies of the literature, learned the policy
// that learns during the crawl, propose start pages. The crawler does not import this package:
// crawler/policy adapts its scorers.
//
// Files: keywords.go K and λ; paper.go eq. 1, its variant over all parents, and the Policy interface.
package relevance
