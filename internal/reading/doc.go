// Package reading opens user-supplied files safely. A path may lead to a pipe without a writer, an
// endless device, a file larger than memory, or TOML that costs gigabytes.
//
// In: a path, and a limit in bytes. Out: the file, or an error that says what is there, before a
// byte is read. Open and All take only regular files; OpenNamed also takes pipes and terminals
// named on the command line. Files: reading.go opening; packed.go decompression and TOML.
package reading
