// Package propose chooses start pages for a crawl out of what is known already.
//
// In: a topic, as example texts, keywords or a judge of texts, and a source of
// candidates. These are pages of a corpus or store with their links, or URLs of a
// sitemap or link list with a few words. Out: a few URLs that are on topic, lead to
// many others on topic, and differ from one another, each with its reasons.
//
// A source is streamed, twice. What is kept grows with it by some 30 bytes a
// page: its relevance, for the pages that link to it. Words and links are kept
// of the most promising candidates only.
//
// Start with NewTopic, then Collect, then Choose.
//
// Files: topic.go the topic as a vector of words; vector.go texts as vectors;
// keywords.go pages that stand in for examples. collect.go the two passes;
// hubs.go what a page leads to; choose.go the choice; why.go its reasons.
// source.go what a path holds, list.go URL lists.
package propose
