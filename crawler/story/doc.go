// Package story tells what became of one URL of a crawl, and why.
//
// In: a store, and an address as a person writes it. Out: a Story, as JSON has
// it, and the same as text. It has a verdict in a sentence, who found the URL,
// how it scored and by what, its visits and its rest. It has what a model or a
// person said of it.
//
// It asks no crawl: what the scorer of a running crawl thinks now, its caller adds.
//
// Start with Of, then Story.Print.
//
// Files: story.go the records asked for; tell.go what they say; verdict.go the
// one sentence; rest.go what is waited for; wait.go waits for better links.
// exchanges.go robots.txt and sitemaps; mark.go what a person said; rank.go the page's rank; address.go a
// store's URL for an address; print.go text.
package story
