// Package cli is what a command line in kong's grammar needs besides kong: help in two sizes,
// settings from files and the environment, values as people write them, and what a verb needs
// of its process: signals that end it in order, pipes that break, memory, processor time.
//
// Files: help.go help on the screen and the verbs of a grammar; settings.go, file.go what
// fossick.toml and FOSSICK_NAME set, with confighelp.go, which explains them; values.go times,
// counts and sizes; signals.go the first and the second signal; process.go stdout, the heap and
// what libraries write to the log; cputime_unix.go processor time.
package cli
