// Package propose reads start pages of a crawl, and chooses new ones.
//
// In: a topic, as example texts, keywords or a judge of texts, and a source of candidates: pages of
// a corpus or store with their links, or URLs of a sitemap or link list with a few words. Out: a few
// URLs that are on topic, lead to many others on topic and differ from one another, each with its
// reasons. StartPages are those that a user names.
//
// A source is streamed twice. About 30 bytes a page are kept, its relevance for the pages that link
// to it; words and links are kept only of the most promising candidates.
//
// Start with NewTopic, then Propose; or with ReadStartPages.
//
// Files: topic.go the topic and texts as vectors of words; collect.go the two passes, the choice and
// its reasons; source.go paths and URL lists; seeds.go start pages as users write them.
package propose
