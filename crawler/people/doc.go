// Package people keeps what people say of URLs: that a page is on topic, or is not.
//
// In: marks, of a crawl that runs or rests. Out: marks in the store, each with all that it
// changes; what was said of a URL; and for a scorer that learns, the pages and marks of
// earlier sessions in their order. Start with NewBook, or with Put where no crawl runs.
package people
