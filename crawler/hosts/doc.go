// Package hosts holds the state of a crawl's hosts for the crawl's owner.
//
// In: records of the journal, addresses from look-ups, finished exchanges. Out: a Host by
// name; which hosts form one party; how long each rests; which hosts are down; which URLs
// are traps; which sitemaps come next. A Table maintains the frontier's parties and their
// rests; the queue decides which URL of a host is next.
//
// Recently used hosts are in memory, the others in the journal. Everything belongs to one
// goroutine. Start with New, then Get.
//
// Files: table.go hosts, their addresses and counts; health.go failures and rests;
// network.go outages and closed hosts; newcomers.go places for unknown hosts; chances.go
// chances of success (paper E); traps.go traps by pattern and budget; farms.go traps of
// hosts, and fingerprints; sitemaps.go sitemaps.
package hosts
