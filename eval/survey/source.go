package survey

import "iter"

// A Source is what a crawl has on record. URLs have numbers from 1, in the order of
// discovery.
type Source interface {
	// URLs yields all URLs in the order of their numbers, each valid until the next.
	URLs() iter.Seq2[*URL, error]
	// Pages yields the stored pages, each valid until the next.
	Pages() iter.Seq2[*Page, error]
	// Name returns the URL of a number, "" where it is lost.
	Name(id uint64) (string, error)
}

// URL is what is known of one.
type URL struct {
	ID      uint64
	URL     string // in normal form
	From    uint64 // number of the page or redirect that led to it; 0 where none did
	Seed    bool   // a start page
	Depth   int    // links from a start page
	Content string // of a start page: the hash of what it says, in hex; "" where that is not known
	State   string // in which it ended, as focus names them; "" while it waits
	Got     bool   // an exchange brought its page, kept or not
	Outside bool   // it was left aside for being outside of the party that led to it
	Began   int64  // of its first exchange, Unix milliseconds; 0 without one
	Ended   int64  // of its last one
}

// asked says that a party came so far: the URL waits, or ended by more than being known.
func (u *URL) asked() bool { return !u.Outside && u.State != "none" && u.State != "trap" }

// Page is a stored page.
type Page struct {
	Links []uint64 // numbers of the URLs that it links to
}
