// Package help says how a command line is used: on the screen, to a shell, in a manual.
//
// In: the grammar of a command line, as kong has it. Out: the help of a verb,
// with or without the flags that newcomers do not need; manual pages in the
// macros of man(7). And what a shell may offer next, with the scripts by which
// it asks.
//
// The words are the grammar's own. Which values there are for a kind of flag, the caller says.
//
// Start with Print, Complete and Manual.
//
// Files: page.go help on the screen; complete.go what may stand next, with
// offered.go its values and script.go the shells' end. man.go manual pages;
// roff.go their language; tree.go the verbs of a grammar.
package help
