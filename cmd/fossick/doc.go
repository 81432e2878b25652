// Command fossick is a topic-focused web crawler with a trained classifier
// pipeline: train, focus, refine, eval.
//
// A verb is a struct with its flags, a Run method and a Help text. Here, and only
// here, rooms that do not know each other are wired together: app.go gives a store
// to datasets, focus.go a plan, a store and a fetcher to the crawler.
//
// Files: run.go main, the verbs, exit codes and errors; app.go what all verbs share;
// then a file a verb, with team.go focus --agents, watchpolicy.go watch --budget,
// together.go the flags by which agents work together.
package main
