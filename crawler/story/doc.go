// Package story tells what became of one URL of a crawl, and why.
//
// In: a store, and an address as typed. Out: a Story, in JSON and as text: the verdict in a
// sentence, the discovery of the URL, its score and terms, its visits, its host's rest, and
// the labels of models and people. A running crawl's present scores are added by the caller.
//
// Start with Of, then Story.Print.
//
// Files: story.go the records; tell.go their description; verdict.go the sentence, the rank
// and the text; wait.go rests, and waits for better links.
package story
