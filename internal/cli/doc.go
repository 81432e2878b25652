// Package cli is what a command line in kong's grammar needs besides kong: help in two sizes,
// settings from files and the environment, and values as people write them.
//
// Files: help.go help on the screen and the verbs of a grammar; settings.go, file.go what
// fossick.toml and FOSSICK_NAME set, with confighelp.go, which explains them; values.go times,
// counts and sizes.
package cli
