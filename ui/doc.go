// Package ui shows crawls in the browser: a page, and the JSON interface that it and programs ask.
//
// In: stores, at rest or of running crawls. Out: an HTTP server on loopback. openapi.yaml describes
// the interface.
//
// A running crawl answers for its store: in its own process, or through its control socket, to which
// the server passes requests on. A store at rest is opened for a question and closed soon after, so
// that other commands can have it.
//
// Text from the web leaves as JSON only. A stored page is shown without scripts, forms and addresses,
// in a frame of an origin of its own.
//
// Start with Open, or with Interface for the control socket. Files: server.go the server; access.go
// who may ask; interface.go the questions about one store; rest.go a store at rest; index.go,
// filter.go the list of pages; page.go one page; events.go the stream of a running crawl; hosts.go
// hosts; collection.go like pages, links between hosts, changes; export.go downloads; start.go commands
// that the page may start; jobs.go their processes; embed.go the page's files.
package ui
