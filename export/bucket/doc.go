// Package bucket writes an export to an object store (S3 or a compatible server) so that no reader takes
// an incomplete export for a complete one.
//
// In: the address of an object, or of all objects below a prefix. Out: writers by name. Each object is
// atomic: a small one is one request, a large one a multipart upload that Commit completes. Below a
// prefix small objects appear before Commit, but the list of all objects is written last.
//
// An export over an existing one is compared with it, not sent. Memory is bounded: a part per open file,
// and 32 MiB in flight. There are no locks: when two exports write to one prefix, one or both fail, and
// neither lists objects that the other changed.
//
// Start with Open, then Create and Commit. Files: place.go the export; object.go one object; list.go the
// list; server.go settings from the environment, and requests through minio-go.
package bucket
