// Package reading opens the files that a program is given, and no others. A path may lead to a pipe
// that nobody writes to, an endless device, a file larger than memory, or TOML that costs gigabytes.
//
// In: a path, and a bound of bytes. Out: the file, or an error that says what stands there, before a
// byte was read. Open and All take regular files; OpenNamed also takes pipes and terminals, which a
// person may name on the command line.
package reading
