// Package propose reads the start pages of a crawl, and proposes new ones.
//
// In: a topic, as examples, keywords or a judge of texts, and a source of candidates: pages of a corpus or
// store with their links, or URLs of a sitemap or link list. Out: a few URLs that are on topic, lead to
// many others on topic and differ from one another, each with reasons. StartPages are those a user names.
//
// A source is streamed twice. Memory holds about 30 bytes per page, and words and links only of the best
// candidates.
//
// Start with Propose or ReadStartPages.
//
// Files: topic.go topics and word vectors; collect.go the two passes and the choice; source.go sources;
// seeds.go start pages as users write them.
package propose
