// Package bucket writes an export to an object store (S3 and servers that speak its protocol),
// so that a reader never takes half of one for the whole.
//
// In: an address, of an object or of all below a prefix. Out: writers by name. An object
// appears whole or not at all: a small one is one request, a large one a multipart upload that
// Commit completes. Below a prefix small objects appear before Commit; a list of all objects is
// written last, and a reader that finds the list finds all of them.
//
// An export over an existing one is compared with it and not sent. Memory is bounded: a part of
// each open file, and 32 MiB on the way. There are no locks: of two exports to one prefix at
// once, one or both end with an error, and neither lists what the other has changed.
//
// Start with Open; then Create and Commit.
//
// Files: place.go the export as a whole; object.go one object; list.go the list; server.go the
// environment's settings and the requests, by minio-go.
package bucket
