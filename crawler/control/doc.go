// Package control lets other processes ask a running crawl, and tell it something.
//
// A crawl holds its store alone, so other processes ask the crawl. It answers HTTP over a
// Unix socket in the store's folder, for the folder's owner alone.
//
//	GET  /why?url=URL  story.Story
//	POST /label        LabelRequest → LabelAnswer
//	POST /forget       ForgetRequest → ForgetAnswer, when the pages are off the disk
//	GET  /status       as the crawl's monitor has it
//	GET  /snapshot     all records of the moment, see store.Snapshot
//
// An answer other than 200 is a failure, with its sentence.
//
// Start with Open in the crawl, with Ask in a client, and with Stores to read a store that a
// crawl may hold.
//
// Files: socket.go both ends of the socket, snapshots, stores to read; answers.go labels,
// forgetting, and why; queue.go the best URLs that wait; ask.go questions to people.
package control
