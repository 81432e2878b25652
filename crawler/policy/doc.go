// Package policy finds a crawl policy by its name: a name in, a scorer for the
// crawler and the order that belongs to it out.
//
// In: a policy's name and Input: a topic's model as a Labeller, its keywords K, ρ.
// Out: a crawler.Scorer. Package relevance scores, package classify labels, and the
// crawler knows neither: here they meet. It opens nothing and fetches nothing.
//
// Start with Named or Parse, then Policy.Scorer and Policy.Ordering.
//
// Files: table.go the policies, a row each; paper.go those by paper A's R;
// scorer.go the others, and a topic's model as labeller. words.go one cut of a
// page for model and scorer; background.go what the model's training pages say
// of words; memo.go answers remembered, for the lab.
package policy
