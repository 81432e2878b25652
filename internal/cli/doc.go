// Package cli adds to kong what a command line needs: help in two sizes, settings from files and
// the environment, and values as people write them. It also has what a verb needs of its process:
// signals that end it in order, broken pipes, memory, processor time.
//
// Files: help.go help, and the verbs of a grammar; settings.go, file.go and confighelp.go settings
// in fossick.toml and FOSSICK_NAME; values.go times, counts and sizes; signals.go the first and the
// second signal; process.go stdout, the heap, and logs of libraries; cputime_unix.go processor
// time.
package cli
