// Command fossick is a topic-focused web crawler with a trained classifier
// pipeline: train, focus, refine, eval.
//
// main turns run into an exit code; run parses the command line and calls one
// verb. A verb is a struct with its flags, a Run method and a Help text, in a
// file of its own name. Here, and only here, rooms that do not know each other
// are wired together. sets.go gives a store to datasets, focus.go a plan, a
// store and a fetcher to the crawler.
//
// Files: run.go exit codes and errors; app.go what all verbs share; then a file a verb.
package main
