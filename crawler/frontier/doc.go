// Package frontier decides which URL is fetched next.
//
// In: URLs by number, each with its host and priority. Out: one URL at a time,
// the best of all whose host no fetch is using (paper D2, host exclusivity) and
// whose rest is over (paper E2).
//
// It holds more URLs than memory has room for:
//
//	Push → buffer → sorted runs on disk → merge, best first
//	    host free? → handed out
//	    else       → back queue of its party until its rest is over
//
// So a URL is written once and read once, and a host that rests or is in use is
// passed over in O(log hosts), once a URL: no scan. docs/frontier.md has the
// whole of it, and what bounds the memory.
//
// The frontier reads no clock, time is passed in. Its files are scratch: the
// store keeps the journal from which it is rebuilt. It is not safe for
// concurrent use; the crawler's committer owns it.
//
// Start with New, then Push, Next, Done. Files: frontier.go the queue, its orders, and which
// entries count; tail.go the URLs in order of rank, and their renewal; hosts.go parties of
// hosts; backqueue.go parked URLs and rests; run.go sorted runs on disk; heap.go heaps;
// survey.go the best waiting URLs.
package frontier
