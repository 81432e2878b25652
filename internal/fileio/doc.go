// Package fileio opens foreign files safely, writes files atomically, and sorts on disk.
//
// A path given by a user may lead to a pipe without a writer, an endless device, a file larger than
// memory, or TOML that costs gigabytes. Open and All take only regular files, and say what else is
// there before a byte is read; OpenNamed also takes pipes and terminals named on the command line.
//
// Files: open.go opening; packed.go decompression and TOML; write.go whole files; sort.go sorting
// more than fits into memory.
package fileio
