// Package queues orders the URLs of a frontier that others crawl: within a queue the best
// first, and of all queues that may give URLs the one with the best head.
//
// In: URLs by number with a priority and the second from which they may be fetched; the
// time, in seconds. Out: which URLs are next, and counts. It knows no URL's text, opens no
// file and reads no clock. A Set is not safe for concurrent use.
//
// Start with New, then Set.Open, Queue.Put and Set.Take.
//
// Files: set.go crawls and their queues; queue.go one queue; heap.go heaps that know
// where each thing is; take.go what is handed out; rescore.go new priorities, a part at
// a time.
package queues
