// Command fossick is a topic-focused web crawler with a trained classifier
// pipeline: train, focus, refine, eval.
//
// main turns run into an exit code; run parses the command line and calls one
// verb. A verb is a struct with its flags, a Run method and a Help text, in a
// file of its own name. Here, and only here, rooms that do not know each other
// are wired together: scorer.go gives relevance and classify to the crawler,
// stored.go gives a store to datasets; socket.go lets other processes ask a crawl.
//
// Files: run.go exit codes and errors; app.go what all verbs share; config.go
// flags from the environment and fossick.toml; then a file a verb.
package main
