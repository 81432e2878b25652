// Package member makes a crawl a member of a cluster: it is the engine that the protocol of
// package cluster drives.
//
// In: the settings of a crawl with a store of its own, and an exchange that others share.
// Out: what this member's part of the crawl came to. Start with New, then Run.
//
// Files: member.go the crawl, the protocol and what runs beside them; engine.go what the
// protocol asks; hold.go partitions that come and go; pace.go what it could take next, for
// the price; replica.go what is kept of a member elsewhere; teach.go what members learn from
// each other.
package member
