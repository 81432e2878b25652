package webstats

import "iter"

// Source is a crawl as streams, each walked once. What one yields is valid until its next.
type Source interface {
	URLs() iter.Seq2[*URL, error]    // all that are known
	Pages() iter.Seq2[*Page, error]  // all that are stored
	Hosts() iter.Seq2[string, error] // name:port of those asked, by name
}

// URL is a URL and what became of it.
type URL struct {
	ID        uint64 // from 1, in the order of discovery
	From      uint64 // ID of the URL whose link or redirect led to it; 0 where none did
	URL       string // in normal form
	Seed      bool   // a start page
	Linked    bool   // a link of a page named it first
	Depth     int    // links from a start page
	State     string // in which it ended; "" while it waits
	Near      bool   // it is a duplicate whose content is only nearly the same
	Exchanges []Exchange
	Times     []int64 // when each exchange began, Unix milliseconds; nil where that is not known
	Headers   []Header
}

// Exchange is a request and what came of it.
type Exchange struct {
	State  string
	Code   int   // 0 where no answer came
	Millis int64 // until the last byte
}

// Header is what an answer said before its body.
type Header struct {
	Protocol string // http/1.1, h2, …
	Response []byte // lines
}

// Page is a stored page.
type Page struct {
	ID          uint64 // of its URL
	URL         string
	ContentType string
	Charset     string // "" where it was not noted
	Lang        string // "" where it is not known
	Label       string // "" where it has none
	Bytes       int64
	Packed      int64    // bytes on disk; 0 where they are not known
	Unseen      int64    // bytes that are neither text nor title; below 0 where they are not known
	Links       []uint64 // IDs of the URLs that it links to, each once
	Kinds       []int    // links on it: frames, anchors, others; nil where there are none, or no Charset
}
