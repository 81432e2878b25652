package crawler

// Sites divides the web among the agents of a crawl. All URLs of a site are in one part.
// Safe for concurrent use.
type Sites interface {
	// Part returns the part of the web that a URL is in.
	Part(url string) uint16
	// PartOf returns the part of the web that has to know which pages have a content.
	PartOf(checksum []byte) uint16
	// Mine says whether this agent may ask for URLs of a part now.
	Mine(part uint16) bool
	// Held says whether a part is this agent's, though it may have to wait before it asks, as
	// for a lease to be renewed.
	Held(part uint16) bool
	// Ours says whether URLs of a part wait at this agent, as it may ask for them now or soon.
	Ours(part uint16) bool
}

// Reason is why a URL of another agent's is not asked for here.
const Reason = "its site is another agent's"
