// Command fossick is a topic-focused web crawler with a trained classifier
// pipeline: train, focus, refine, eval.
//
// In: a command line, fossick.toml and the environment. Out: results on stdout, progress and logs
// on stderr, and an exit code. A verb is a struct with its flags, a Run method and a Help text.
// This package alone connects packages that do not know each other: app.go gives a store to
// datasets; focus.go gives a plan, a store and a fetcher to the crawler.
//
// Files: start with run.go, which has main, the verbs, exit codes and errors; app.go has what all
// verbs share. Then each verb has a file; team.go is focus --agents, watchpolicy.go watch --budget,
// and together.go has the flags by which agents work together.
package main
