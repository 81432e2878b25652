// Package across takes links from an agent's crawl to those that crawl the rest of the web.
// They are read there as if the page had been read there (paper C1).
//
// In: links of a page, with the words that they stand in. Out: parcels, one for each part of
// the web that they lead to; and pages that have these links and nothing else, for a scorer.
// It sends nothing: docs/cluster.md says who does.
//
// Files: sites.go whose a URL is; parcel.go what goes across; post.go what is ready to go;
// known.go what is told of a part that changes hands; content.go and address.go what is told of pages with the same
// content and of sites at one address; label.go what people say.
package across
