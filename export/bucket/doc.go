// Package bucket makes the objects of an export in an object store (S3 and servers that
// speak as it does), so that there is never a half of one.
//
// In: an address, of an object or of all below a prefix. Out: writers by name. An object
// appears whole or not at all: what is small is one request, what is large a multipart
// upload that is completed at Commit. Below a prefix small objects appear before; a list of
// all objects is the last, and who finds it there has the whole.
//
// What is there already is replaced by the same bytes only, which it is compared with and
// not sent again. Memory is bounded: a part of each file, and some that are on their way.
//
// There are no locks: of two exports to one prefix at once, one or both end with an error,
// and none lists what the other has changed.
//
// Start with Parse, FromEnvironment, Open; then Create and Commit.
//
// Files: address.go where; settings.go which server, and as whom; place.go one object, or
// all below a prefix; object.go one on its way; there.go what is there already; list.go the
// list of all; client.go what is asked for;
// request.go how; transfers.go how much at once.
package bucket
