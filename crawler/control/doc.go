// Package control lets other processes ask a running crawl, and tell it something.
//
// A crawl has its store to itself. Who wants to know something of it, or to
// tell it something, asks the crawl. It answers HTTP over a Unix socket in the
// store's folder, which only its owner may use.
//
//	GET  /why?url=URL  story.Story
//	POST /label        LabelRequest → LabelAnswer
//	POST /forget       ForgetRequest → ForgetAnswer, when the pages are off the disk
//	GET  /status       as the crawl's monitor has it
//	GET  /snapshot     all records of the moment, see store.Snapshot
//
// An answer other than 200 is a failure, with its sentence.
//
// Start with Open at the crawl's end, with Ask at the other, and with Stores to read a store that
// a crawl may have.
//
// Files: socket.go the crawl's end; client.go the other; read.go stores to read; ask.go,
// interview.go questions to people; topic.go of which topic; labels.go files of labels; why.go, label.go, forget.go
// and snapshot.go the answers.
package control
