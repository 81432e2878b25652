// Package reading opens the files that a program is given, and no others.
//
// A path may lead to a pipe that nobody writes to, a device without end, a file larger
// than memory, or TOML that costs gigabytes. In: a path, and how many bytes there may
// be. Out: the file, or an error that says what stands there, before a byte of it was
// read.
//
// Open and All take regular files, for what is found in a folder, a topic or a store.
// OpenNamed also takes what a person names on the command line in their place: pipes
// (process substitution, /dev/stdin) and terminals.
//
// Files: open.go by kind; all.go by size; packed.go decompressed; within.go links that lead out of a folder;
// toml.go the shape of TOML.
package reading
