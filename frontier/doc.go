// Package frontier decides which URL is fetched next.
//
// In: URLs by number, each with its host and priority. Out: one URL at a time,
// the best of all whose host no fetch is using (paper D2, host exclusivity) and
// whose rest is over (paper E2).
//
// A host's URLs stand in a heap of their own; the hosts that may be fetched now
// stand in a heap by their best URL, the resting ones in a heap by the end of
// their rest. So the next URL costs O(log hosts + log queue), and a host that
// rests, or is in use, costs nothing: no scan passes it over.
//
// The frontier opens no file and reads no clock: the store keeps the journal
// from which it is rebuilt, and time is passed in. It is not safe for
// concurrent use; the crawler's committer owns it.
//
// Start with New, then Push, Next, Done. Files: frontier.go the queue; host.go
// hosts and the addresses they share; heap.go the heap under all three;
// order.go the orderings that turn a link into a priority.
package frontier
