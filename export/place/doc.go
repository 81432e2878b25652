// Package place makes the files of an export, so that there is never a half of one.
//
// In: a path, of a file or of a folder. Out: writers by name. What they write stands under
// a hidden name beside the path until Commit gives it its own; a kill leaves nothing there.
// What such a kill left under the hidden name is removed by the next export to the path.
//
// What is there already is replaced by the same bytes only.
//
// A Kept folder is made over several runs: what a kill left is there again for the next.
//
// Start with Open or Stream, then Create and Commit; or with Keep.
//
// Files: place.go files and folders; kept.go folders of several runs; packed.go compression by name; same.go what is there
// already; lock_unix.go and lock_other.go who still writes.
package place
