// Package hosts is what a crawl's owner knows of hosts.
//
// In: records of the journal, addresses that look-ups found, exchanges that are over. Out:
// a Host by name, with the parts of it that other rooms keep; which hosts are one party;
// how long each rests. A Table leads the frontier's parties and their rests; which URL of a
// host is next, it does not know.
//
// Hosts that were asked for last are in memory, the others in the journal. All belongs to
// one goroutine. Start with New, then Get. Files: table.go hosts and their counts; cache.go
// those in memory; address.go parties; rest.go rests.
package hosts
