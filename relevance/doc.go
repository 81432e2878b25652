// Package relevance says how far a page is on topic, and how good a link is.
//
// In: pages as package page makes them, a topic's words K, the score of the
// page that led there. Out: the degree of relevance R (paper A eq. 1) with the
// terms it is made of, and a score for each link.
//
// It opens nothing and fetches nothing. The crawler does not import it: an
// adapter in cmd/fossick makes its scorers fit the crawler's Scorer.
//
// Files: keywords.go K and λ; paper.go eq. 1 as published, papermean.go by all parents;
// learned.go link scores learned while the crawl goes on, of evidence.go, sister.go,
// around.go, ending.go, kin.go, prior.go, parts.go, base.go,
// logistic.go, vocabulary.go, background.go, lesson.go, words.go and explore.go, and corrected by what people say: marks.go,
// correction.go, history.go, recount.go, opinion.go; account.go why a page had its score, as stores keep it; reader.go and distinct.go the
// words of pages and links; unlinked.go URLs without links; policy.go what a policy is, and a file for each
// known one: bestfirst.go, random.go, shark.go, fish.go, ache.go, contextgraph.go,
// infospiders.go, hits.go, opic.go; tokens.go and bayes.go what some of them learn
// by; recent.go the memory of all.
package relevance
